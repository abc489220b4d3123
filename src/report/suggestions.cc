#include "report/suggestions.h"

#include <fmt/format.h>

#include "base/json_write.h"
#include "base/text_table.h"
#include "report/json_parts.h"
#include "report/text_parts.h"

namespace stepcast::report {
namespace {

// The two things that the critical path spends less on by most.
std::string ReasonOf(const WhatifReport& report) {
  constexpr size_t kMost = 2;
  std::vector<std::string> reasons;
  for (const PathChange& change : report.path) {
    if (change.delta() < Duration{} && reasons.size() < kMost) {
      reasons.push_back(fmt::format("{} ms {}", DeltaText(change.delta()),
                                    Printable(change.what)));
    }
  }
  return Joined(reasons);
}

}  // namespace

SuggestionsReport ReportSuggestions(const whatif::Case& before,
                                    const whatif::Suggestions& suggestions,
                                    const std::string& name) {
  SuggestionsReport report;
  report.before = ReportCase(before, name);
  for (const whatif::Suggestion& suggestion : suggestions.gains) {
    const WhatifReport single =
        ReportWhatif(before, suggestion.changed, {&suggestion.change, 1}, name);
    report.gains.push_back({.change = suggestion.change.text,
                            .delta = suggestion.changed.delta,
                            .confidence = whatif::Name(suggestion.confidence),
                            .bound = suggestion.changed.bound,
                            .reason = ReasonOf(single)});
  }
  report.rejected = suggestions.rejected;
  return report;
}

std::string SuggestionsText(const SuggestionsReport& report) {
  std::string text = fmt::format("{}\n\nstep time    {} ms\n\n",
                                 SubjectText(report.before.subject),
                                 MillisecondsText(report.before.step));
  TextTable table(
      {Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft},
      "  ");
  table.AddRow({"change", "gain ms", "", "confidence", "critical path"});
  for (const SuggestionRow& row : report.gains) {
    table.AddRow({row.change,
                  fmt::format("{}{}", row.bound ? "<= " : "",
                              MillisecondsText(-row.delta.step)),
                  DeltaPercentText(row.delta.step, report.before.step),
                  std::string(row.confidence), row.reason});
  }
  text += report.gains.empty() ? "no single change helps\n" : table.ToString();
  TextTable rejected({Align::kLeft, Align::kLeft}, "  ");
  for (const whatif::Rejected& item : report.rejected) {
    rejected.AddRow({item.change, Printable(item.why)});
  }
  if (!report.rejected.empty()) {
    text += fmt::format("\nwithout gain, or not for this step\n{}",
                        rejected.ToString());
  }
  return text;
}

std::string SuggestionsJson(const SuggestionsReport& report,
                            std::string_view version) {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(version);
  json.Key("workload").String(report.before.subject.workload);
  json.Key("suggestions").BeginArray();
  for (const SuggestionRow& row : report.gains) {
    json.BeginObject();
    json.Key("change").String(row.change);
    WriteTime(json, "delta_us", row.delta.step);
    json.Key("interval_us").BeginObject();
    WriteTime(json, "p10", row.delta.p10);
    WriteTime(json, "p50", row.delta.p50);
    WriteTime(json, "p90", row.delta.p90);
    json.EndObject();
    json.Key("bound").Bool(row.bound);
    json.Key("confidence").String(row.confidence);
    json.Key("reason").String(row.reason);
    json.EndObject();
  }
  json.EndArray();
  json.Key("rejected").BeginArray();
  for (const whatif::Rejected& item : report.rejected) {
    json.BeginObject();
    json.Key("change").String(item.change);
    json.Key("why").String(item.why);
    json.EndObject();
  }
  json.EndArray();
  json.Key("before");
  WritePrediction(json, report.before, version);
  json.EndObject();
  return json.Take();
}

}  // namespace stepcast::report
