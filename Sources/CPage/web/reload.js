addEventListener("error", ({ target }) => {
  if (target.localName === "script" || target.rel === "stylesheet") setTimeout(() => location.reload(), 2000);
}, true);
