"""Debian's Chromium, and pages with a record of everything that a console or a policy reports."""
import contextlib
import sys

from playwright.sync_api import expect

# Waits are bounded; a slow machine may need most of this for a page with ten thousand targets.
LIMIT_MS = 30_000
expect.set_options(timeout=LIMIT_MS)


class Browser:
    """Pages with a record of everything that a console or a policy reports."""

    def __init__(self, playwright):
        self.browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium-headless-shell", args=["--no-sandbox"])
        self.messages = []

    @contextlib.contextmanager
    def open(self, url, width=1280, height=800, **options):
        context = self.browser.new_context(viewport={"width": width, "height": height}, **options)
        page = context.new_page()
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(f"uncaught: {error}"))
        page.add_init_script("""addEventListener('securitypolicyviolation',
            event => console.error('policy violation: ' + event.violatedDirective + ' ' + event.blockedURI))""")
        page.set_default_timeout(LIMIT_MS)
        try:
            page.goto(url)
            yield page
        except BaseException:
            print(f"{url}: messages of the console: {self.messages}", file=sys.stderr)
            raise
        finally:
            context.close()

    def take_messages(self):
        messages, self.messages = self.messages, []
        return messages
