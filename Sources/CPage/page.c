/* #embed keeps compile times short: a Swift array literal of the same size takes minutes in a debug build. */
#pragma clang diagnostic ignored "-Wc23-extensions"
#include "page.h"

static const unsigned char common_access_js[] = {
#embed "web/common/access.js"
};
static const unsigned char common_announcer_js[] = {
#embed "web/common/announcer.js"
};
static const unsigned char common_banner_js[] = {
#embed "web/common/banner.js"
};
static const unsigned char common_chinese_js[] = {
#embed "web/common/chinese.js"
};
static const unsigned char common_client_js[] = {
#embed "web/common/client.js"
};
static const unsigned char common_copy_js[] = {
#embed "web/common/copy.js"
};
static const unsigned char common_dom_js[] = {
#embed "web/common/dom.js"
};
static const unsigned char common_english_js[] = {
#embed "web/common/english.js"
};
static const unsigned char common_filterbar_js[] = {
#embed "web/common/filterbar.js"
};
static const unsigned char common_format_js[] = {
#embed "web/common/format.js"
};
static const unsigned char common_frame_js[] = {
#embed "web/common/frame.js"
};
static const unsigned char common_keys_js[] = {
#embed "web/common/keys.js"
};
static const unsigned char common_pacing_js[] = {
#embed "web/common/pacing.js"
};
static const unsigned char common_preferences_js[] = {
#embed "web/common/preferences.js"
};
static const unsigned char common_problem_js[] = {
#embed "web/common/problem.js"
};
static const unsigned char common_resuming_js[] = {
#embed "web/common/resuming.js"
};
static const unsigned char common_route_js[] = {
#embed "web/common/route.js"
};
static const unsigned char common_search_js[] = {
#embed "web/common/search.js"
};
static const unsigned char common_stream_js[] = {
#embed "web/common/stream.js"
};
static const unsigned char common_words_js[] = {
#embed "web/common/words.js"
};
static const unsigned char fleet_css[] = {
#embed "web/fleet.css"
};
static const unsigned char fleet_html[] = {
#embed "web/fleet.html"
};
static const unsigned char fleet_cells_js[] = {
#embed "web/fleet/cells.js"
};
static const unsigned char fleet_connection_js[] = {
#embed "web/fleet/connection.js"
};
static const unsigned char fleet_documents_js[] = {
#embed "web/fleet/documents.js"
};
static const unsigned char fleet_fleet_js[] = {
#embed "web/fleet/fleet.js"
};
static const unsigned char fleet_geometry_js[] = {
#embed "web/fleet/geometry.js"
};
static const unsigned char fleet_headline_js[] = {
#embed "web/fleet/headline.js"
};
static const unsigned char fleet_matrix_js[] = {
#embed "web/fleet/matrix.js"
};
static const unsigned char fleet_model_js[] = {
#embed "web/fleet/model.js"
};
static const unsigned char fleet_reader_js[] = {
#embed "web/fleet/reader.js"
};
static const unsigned char fleet_refresher_js[] = {
#embed "web/fleet/refresher.js"
};
static const unsigned char fleet_rows_js[] = {
#embed "web/fleet/rows.js"
};
static const unsigned char fleet_table_js[] = {
#embed "web/fleet/table.js"
};
static const unsigned char fleet_tables_js[] = {
#embed "web/fleet/tables.js"
};
static const unsigned char fleet_target_js[] = {
#embed "web/fleet/target.js"
};
static const unsigned char fleet_words_js[] = {
#embed "web/fleet/words.js"
};
static const unsigned char index_html[] = {
#embed "web/index.html"
};
static const unsigned char node_actions_js[] = {
#embed "web/node/actions.js"
};
static const unsigned char node_app_js[] = {
#embed "web/node/app.js"
};
static const unsigned char node_arrange_js[] = {
#embed "web/node/arrange.js"
};
static const unsigned char node_bursts_js[] = {
#embed "web/node/bursts.js"
};
static const unsigned char node_changes_js[] = {
#embed "web/node/changes.js"
};
static const unsigned char node_charts_js[] = {
#embed "web/node/charts.js"
};
static const unsigned char node_charttip_js[] = {
#embed "web/node/charttip.js"
};
static const unsigned char node_columns_js[] = {
#embed "web/node/columns.js"
};
static const unsigned char node_connection_js[] = {
#embed "web/node/connection.js"
};
static const unsigned char node_detail_js[] = {
#embed "web/node/detail.js"
};
static const unsigned char node_event_js[] = {
#embed "web/node/event.js"
};
static const unsigned char node_evidence_js[] = {
#embed "web/node/evidence.js"
};
static const unsigned char node_filter_js[] = {
#embed "web/node/filter.js"
};
static const unsigned char node_grouprow_js[] = {
#embed "web/node/grouprow.js"
};
static const unsigned char node_headline_js[] = {
#embed "web/node/headline.js"
};
static const unsigned char node_hub_js[] = {
#embed "web/node/hub.js"
};
static const unsigned char node_hubport_js[] = {
#embed "web/node/hubport.js"
};
static const unsigned char node_list_js[] = {
#embed "web/node/list.js"
};
static const unsigned char node_listheader_js[] = {
#embed "web/node/listheader.js"
};
static const unsigned char node_missed_js[] = {
#embed "web/node/missed.js"
};
static const unsigned char node_model_js[] = {
#embed "web/node/model.js"
};
static const unsigned char node_navigation_js[] = {
#embed "web/node/navigation.js"
};
static const unsigned char node_order_js[] = {
#embed "web/node/order.js"
};
static const unsigned char node_outages_js[] = {
#embed "web/node/outages.js"
};
static const unsigned char node_plot_js[] = {
#embed "web/node/plot.js"
};
static const unsigned char node_plots_js[] = {
#embed "web/node/plots.js"
};
static const unsigned char node_row_js[] = {
#embed "web/node/row.js"
};
static const unsigned char node_rows_js[] = {
#embed "web/node/rows.js"
};
static const unsigned char node_sections_js[] = {
#embed "web/node/sections.js"
};
static const unsigned char node_series_js[] = {
#embed "web/node/series.js"
};
static const unsigned char node_slots_js[] = {
#embed "web/node/slots.js"
};
static const unsigned char node_states_js[] = {
#embed "web/node/states.js"
};
static const unsigned char node_summary_js[] = {
#embed "web/node/summary.js"
};
static const unsigned char node_targetreader_js[] = {
#embed "web/node/targetreader.js"
};
static const unsigned char node_targets_js[] = {
#embed "web/node/targets.js"
};
static const unsigned char node_timeline_js[] = {
#embed "web/node/timeline.js"
};
static const unsigned char node_viewport_js[] = {
#embed "web/node/viewport.js"
};
static const unsigned char page_css[] = {
#embed "web/page.css"
};
static const unsigned char reload_js[] = {
#embed "web/reload.js"
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

static const struct page_file files[] = {
  {"common/access.js", common_access_js, sizeof common_access_js},
  {"common/announcer.js", common_announcer_js, sizeof common_announcer_js},
  {"common/banner.js", common_banner_js, sizeof common_banner_js},
  {"common/chinese.js", common_chinese_js, sizeof common_chinese_js},
  {"common/client.js", common_client_js, sizeof common_client_js},
  {"common/copy.js", common_copy_js, sizeof common_copy_js},
  {"common/dom.js", common_dom_js, sizeof common_dom_js},
  {"common/english.js", common_english_js, sizeof common_english_js},
  {"common/filterbar.js", common_filterbar_js, sizeof common_filterbar_js},
  {"common/format.js", common_format_js, sizeof common_format_js},
  {"common/frame.js", common_frame_js, sizeof common_frame_js},
  {"common/keys.js", common_keys_js, sizeof common_keys_js},
  {"common/pacing.js", common_pacing_js, sizeof common_pacing_js},
  {"common/preferences.js", common_preferences_js, sizeof common_preferences_js},
  {"common/problem.js", common_problem_js, sizeof common_problem_js},
  {"common/resuming.js", common_resuming_js, sizeof common_resuming_js},
  {"common/route.js", common_route_js, sizeof common_route_js},
  {"common/search.js", common_search_js, sizeof common_search_js},
  {"common/stream.js", common_stream_js, sizeof common_stream_js},
  {"common/words.js", common_words_js, sizeof common_words_js},
  {"fleet.css", fleet_css, sizeof fleet_css},
  {"fleet.html", fleet_html, sizeof fleet_html},
  {"fleet/cells.js", fleet_cells_js, sizeof fleet_cells_js},
  {"fleet/connection.js", fleet_connection_js, sizeof fleet_connection_js},
  {"fleet/documents.js", fleet_documents_js, sizeof fleet_documents_js},
  {"fleet/fleet.js", fleet_fleet_js, sizeof fleet_fleet_js},
  {"fleet/geometry.js", fleet_geometry_js, sizeof fleet_geometry_js},
  {"fleet/headline.js", fleet_headline_js, sizeof fleet_headline_js},
  {"fleet/matrix.js", fleet_matrix_js, sizeof fleet_matrix_js},
  {"fleet/model.js", fleet_model_js, sizeof fleet_model_js},
  {"fleet/reader.js", fleet_reader_js, sizeof fleet_reader_js},
  {"fleet/refresher.js", fleet_refresher_js, sizeof fleet_refresher_js},
  {"fleet/rows.js", fleet_rows_js, sizeof fleet_rows_js},
  {"fleet/table.js", fleet_table_js, sizeof fleet_table_js},
  {"fleet/tables.js", fleet_tables_js, sizeof fleet_tables_js},
  {"fleet/target.js", fleet_target_js, sizeof fleet_target_js},
  {"fleet/words.js", fleet_words_js, sizeof fleet_words_js},
  {"index.html", index_html, sizeof index_html},
  {"node/actions.js", node_actions_js, sizeof node_actions_js},
  {"node/app.js", node_app_js, sizeof node_app_js},
  {"node/arrange.js", node_arrange_js, sizeof node_arrange_js},
  {"node/bursts.js", node_bursts_js, sizeof node_bursts_js},
  {"node/changes.js", node_changes_js, sizeof node_changes_js},
  {"node/charts.js", node_charts_js, sizeof node_charts_js},
  {"node/charttip.js", node_charttip_js, sizeof node_charttip_js},
  {"node/columns.js", node_columns_js, sizeof node_columns_js},
  {"node/connection.js", node_connection_js, sizeof node_connection_js},
  {"node/detail.js", node_detail_js, sizeof node_detail_js},
  {"node/event.js", node_event_js, sizeof node_event_js},
  {"node/evidence.js", node_evidence_js, sizeof node_evidence_js},
  {"node/filter.js", node_filter_js, sizeof node_filter_js},
  {"node/grouprow.js", node_grouprow_js, sizeof node_grouprow_js},
  {"node/headline.js", node_headline_js, sizeof node_headline_js},
  {"node/hub.js", node_hub_js, sizeof node_hub_js},
  {"node/hubport.js", node_hubport_js, sizeof node_hubport_js},
  {"node/list.js", node_list_js, sizeof node_list_js},
  {"node/listheader.js", node_listheader_js, sizeof node_listheader_js},
  {"node/missed.js", node_missed_js, sizeof node_missed_js},
  {"node/model.js", node_model_js, sizeof node_model_js},
  {"node/navigation.js", node_navigation_js, sizeof node_navigation_js},
  {"node/order.js", node_order_js, sizeof node_order_js},
  {"node/outages.js", node_outages_js, sizeof node_outages_js},
  {"node/plot.js", node_plot_js, sizeof node_plot_js},
  {"node/plots.js", node_plots_js, sizeof node_plots_js},
  {"node/row.js", node_row_js, sizeof node_row_js},
  {"node/rows.js", node_rows_js, sizeof node_rows_js},
  {"node/sections.js", node_sections_js, sizeof node_sections_js},
  {"node/series.js", node_series_js, sizeof node_series_js},
  {"node/slots.js", node_slots_js, sizeof node_slots_js},
  {"node/states.js", node_states_js, sizeof node_states_js},
  {"node/summary.js", node_summary_js, sizeof node_summary_js},
  {"node/targetreader.js", node_targetreader_js, sizeof node_targetreader_js},
  {"node/targets.js", node_targets_js, sizeof node_targets_js},
  {"node/timeline.js", node_timeline_js, sizeof node_timeline_js},
  {"node/viewport.js", node_viewport_js, sizeof node_viewport_js},
  {"page.css", page_css, sizeof page_css},
  {"reload.js", reload_js, sizeof reload_js},
  {"state-down.svg", state_down_svg, sizeof state_down_svg},
  {"state-pending.svg", state_pending_svg, sizeof state_pending_svg},
  {"state-unknown.svg", state_unknown_svg, sizeof state_unknown_svg},
  {"state-unreachable.svg", state_unreachable_svg, sizeof state_unreachable_svg},
  {"state-up.svg", state_up_svg, sizeof state_up_svg},
};

struct page_file page_file_at(size_t number) {
  struct page_file none = {NULL, NULL, 0};
  return number < sizeof files / sizeof *files ? files[number] : none;
}
