// Two steps side by side, for programs.
#include <algorithm>

#include <fmt/format.h>

#include "base/json_write.h"
#include "report/compare.h"

namespace stepcast::report {
namespace {

constexpr int kTimeDecimals = 3;

void WriteTime(JsonWriter& json, std::string_view key, Duration time) {
  json.Key(key).Fixed(ToMicroseconds(time), kTimeDecimals);
}

void WriteSide(JsonWriter& json, const ComparedStep& step) {
  json.BeginObject();
  json.Key("name").String(step.name);
  WriteTime(json, "step_time_us", step.step);
  WriteTime(json, "gpu_active_us", step.gpu_active);
  WriteTime(json, "host_busy_us", step.host_busy);
  json.EndObject();
}

void WriteOp(JsonWriter& json, std::string_view key, const OpTimes& times) {
  json.Key(key).BeginObject();
  json.Key("count").Int(static_cast<int64_t>(times.count));
  WriteTime(json, "gpu_us", times.device);
  WriteTime(json, "host_us", times.host);
  json.EndObject();
}

std::string XmlEscaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        // XML has no way to write the other control characters.
        escaped += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return escaped;
}

}  // namespace

std::string ComparisonJson(const Comparison& comparison,
                           std::string_view version) {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(version);
  json.Key("a");
  WriteSide(json, comparison.a);
  json.Key("b");
  WriteSide(json, comparison.b);
  json.Key("delta").BeginObject();
  WriteTime(json, "step_time_us", comparison.b.step - comparison.a.step);
  json.Key("step_time_pct")
      .Fixed(PercentLonger(comparison.a.step, comparison.b.step),
             kTimeDecimals);
  json.EndObject();
  json.Key("parts").BeginArray();
  for (const PartDifference& part : comparison.parts) {
    json.BeginObject();
    json.Key("name").String(part.name);
    WriteTime(json, "a_us", part.a);
    WriteTime(json, "b_us", part.b);
    json.EndObject();
  }
  json.EndArray();
  json.Key("ops").BeginArray();
  for (const OpDifference& op : comparison.ops) {
    json.BeginObject();
    json.Key("name").String(op.name);
    WriteOp(json, "a", op.a);
    WriteOp(json, "b", op.b);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

std::string JunitXml(const Comparison& comparison,
                     const std::vector<CheckedLimit>& checks) {
  const std::string name = XmlEscaped(
      fmt::format("{} against {}", comparison.b.name, comparison.a.name));
  size_t failures = 0;
  std::string cases;
  for (const CheckedLimit& check : checks) {
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", name,
                         XmlEscaped(check.text));
    if (check.failure.empty()) {
      cases += "/>\n";
    } else {
      ++failures;
      cases +=
          fmt::format(">\n      <failure message=\"{}\"/>\n    </testcase>\n",
                      XmlEscaped(check.failure));
    }
  }
  if (checks.empty()) {
    cases = fmt::format("    <testcase classname=\"{}\" name=\"compared\"/>\n",
                        name);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites>\n"
      "  <testsuite name=\"stepcast compare\" tests=\"{}\" failures=\"{}\">\n"
      "{}"
      "  </testsuite>\n"
      "</testsuites>\n",
      std::max(checks.size(), size_t{1}), failures, cases);
}

}  // namespace stepcast::report
