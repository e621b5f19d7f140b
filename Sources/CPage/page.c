/* #embed keeps compile times short: a Swift array literal of the same size takes minutes in a debug build. */
#pragma clang diagnostic ignored "-Wc23-extensions"
#include "page.h"

static const unsigned char app_js[] = {
#embed "web/app.js"
};
static const unsigned char charts_js[] = {
#embed "web/charts.js"
};
static const unsigned char connection_js[] = {
#embed "web/connection.js"
};
static const unsigned char detail_js[] = {
#embed "web/detail.js"
};
static const unsigned char dom_js[] = {
#embed "web/dom.js"
};
static const unsigned char fleet_css[] = {
#embed "web/fleet.css"
};
static const unsigned char fleet_html[] = {
#embed "web/fleet.html"
};
static const unsigned char fleet_js[] = {
#embed "web/fleet.js"
};
static const unsigned char fleetconnection_js[] = {
#embed "web/fleetconnection.js"
};
static const unsigned char fleetmatrix_js[] = {
#embed "web/fleetmatrix.js"
};
static const unsigned char fleetmodel_js[] = {
#embed "web/fleetmodel.js"
};
static const unsigned char fleetrows_js[] = {
#embed "web/fleetrows.js"
};
static const unsigned char fleetwords_js[] = {
#embed "web/fleetwords.js"
};
static const unsigned char hub_js[] = {
#embed "web/hub.js"
};
static const unsigned char index_html[] = {
#embed "web/index.html"
};
static const unsigned char list_js[] = {
#embed "web/list.js"
};
static const unsigned char model_js[] = {
#embed "web/model.js"
};
static const unsigned char notices_js[] = {
#embed "web/notices.js"
};
static const unsigned char page_css[] = {
#embed "web/page.css"
};
static const unsigned char preferences_js[] = {
#embed "web/preferences.js"
};
static const unsigned char state_down_svg[] = {
#embed "web/state-down.svg"
};
static const unsigned char state_pending_svg[] = {
#embed "web/state-pending.svg"
};
static const unsigned char state_unknown_svg[] = {
#embed "web/state-unknown.svg"
};
static const unsigned char state_unreachable_svg[] = {
#embed "web/state-unreachable.svg"
};
static const unsigned char state_up_svg[] = {
#embed "web/state-up.svg"
};
static const unsigned char stream_js[] = {
#embed "web/stream.js"
};
static const unsigned char summary_js[] = {
#embed "web/summary.js"
};
static const unsigned char words_js[] = {
#embed "web/words.js"
};

static const struct page_file files[] = {
  {"app.js", app_js, sizeof app_js},
  {"charts.js", charts_js, sizeof charts_js},
  {"connection.js", connection_js, sizeof connection_js},
  {"detail.js", detail_js, sizeof detail_js},
  {"dom.js", dom_js, sizeof dom_js},
  {"fleet.css", fleet_css, sizeof fleet_css},
  {"fleet.html", fleet_html, sizeof fleet_html},
  {"fleet.js", fleet_js, sizeof fleet_js},
  {"fleetconnection.js", fleetconnection_js, sizeof fleetconnection_js},
  {"fleetmatrix.js", fleetmatrix_js, sizeof fleetmatrix_js},
  {"fleetmodel.js", fleetmodel_js, sizeof fleetmodel_js},
  {"fleetrows.js", fleetrows_js, sizeof fleetrows_js},
  {"fleetwords.js", fleetwords_js, sizeof fleetwords_js},
  {"hub.js", hub_js, sizeof hub_js},
  {"index.html", index_html, sizeof index_html},
  {"list.js", list_js, sizeof list_js},
  {"model.js", model_js, sizeof model_js},
  {"notices.js", notices_js, sizeof notices_js},
  {"page.css", page_css, sizeof page_css},
  {"preferences.js", preferences_js, sizeof preferences_js},
  {"state-down.svg", state_down_svg, sizeof state_down_svg},
  {"state-pending.svg", state_pending_svg, sizeof state_pending_svg},
  {"state-unknown.svg", state_unknown_svg, sizeof state_unknown_svg},
  {"state-unreachable.svg", state_unreachable_svg, sizeof state_unreachable_svg},
  {"state-up.svg", state_up_svg, sizeof state_up_svg},
  {"stream.js", stream_js, sizeof stream_js},
  {"summary.js", summary_js, sizeof summary_js},
  {"words.js", words_js, sizeof words_js},
};

struct page_file page_file_at(size_t number) {
  struct page_file none = {NULL, NULL, 0};
  return number < sizeof files / sizeof *files ? files[number] : none;
}
