#include "cli/option_parser.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text/join.h"
#include "base/text/nearest.h"
#include "cli/output.h"

namespace stepcast::cli {
namespace {

// The help stands at column 30 of a terminal that is 100 wide.
constexpr size_t kHelpWidth = 70;

// Lines that are no longer than the help is wide, broken between words.
std::string Wrapped(std::string_view help) {
  std::string text;
  size_t column = 0;
  while (!help.empty()) {
    const size_t end = std::min(help.find_first_of(" \n"), help.size());
    const std::string_view word = help.substr(0, end);
    if (column > 0 && column + 1 + word.size() > kHelpWidth) {
      text += '\n';
      column = 0;
    } else if (column > 0) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
    if (end < help.size() && help[end] == '\n') {
      text += '\n';
      column = 0;
    }
    help.remove_prefix(std::min(end + 1, help.size()));
  }
  return text;
}

template <typename Value>
CLI::Option* AddTo(CLI::App& app, std::string_view names, Value& value,
                   std::string_view help, OptionParser::Type type,
                   const std::string& group) {
  CLI::Option* option =
      app.add_option(std::string(names), value, Wrapped(help));
  if (type) {
    option->type_name(std::string(*type));
  }
  if (!group.empty() && names.starts_with("-")) {
    option->group(group);
  }
  return option;
}

}  // namespace

OptionParser::OptionParser(std::string_view command, std::string_view help,
                           std::string_view examples)
    : app_(std::make_unique<CLI::App>(std::string(help),
                                      fmt::format("stepcast {}", command))),
      command_(command) {
  app_->set_help_flag();
  app_->allow_extras();
  app_->add_flag("-h,--help", help_, "show this help");
  app_->footer(fmt::format("examples:\n{}", examples));
}

OptionParser::~OptionParser() = default;

void OptionParser::Add(std::string_view names, std::string& value,
                       std::string_view help, Type type) {
  AddTo(*app_, names, value, help, type, group_);
}

void OptionParser::Add(std::string_view names, std::vector<std::string>& values,
                       std::string_view help, Type type) {
  AddTo(*app_, names, values, help, type, group_);
}

void OptionParser::AddRepeated(std::string_view names,
                               std::vector<std::string>& values,
                               std::string_view help, std::string_view type) {
  AddTo(*app_, names, values, help, type, group_)->allow_extra_args(false);
}

void OptionParser::AddFlag(std::string_view names, bool& value,
                           std::string_view help) {
  CLI::Option* const option =
      app_->add_flag(std::string(names), value, Wrapped(help));
  if (!group_.empty()) {
    option->group(group_);
  }
}

void OptionParser::BeginGroup(std::string_view title) {
  group_ = title;
}

std::vector<std::string> OptionParser::Names() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

Result<bool> OptionParser::Parse(const Words& words) {
  if (words.size() == 1 && words.front() == kListOptions) {
    RETURN_IF_ERROR(Print(fmt::format("{}\n", Join(Names(), "\n"))));
    return false;
  }
  try {
    // CLI11 takes the words from the back.
    app_->parse(Words(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    return Fail(ErrorCode::kInvalidInput, error.what());
  }
  if (help_) {
    RETURN_IF_ERROR(Print(app_->help()));
    return false;
  }
  const Words unknown = app_->remaining();
  if (unknown.empty()) {
    return true;
  }
  const std::vector<std::string> names = Names();
  const std::string& word = unknown.front();
  const std::string name = word.substr(0, word.find('='));
  return Fail(
      ErrorCode::kInvalidInput,
      Unknown(fmt::format("{} {}", command_,
                          word.starts_with("-") ? "option" : "word"),
              name, std::vector<std::string_view>(names.begin(), names.end())));
}

}  // namespace stepcast::cli
