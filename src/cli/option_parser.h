// A command's options: what they are called, where their values go.
#ifndef STEPCAST_CLI_OPTION_PARSER_H_
#define STEPCAST_CLI_OPTION_PARSER_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/commands.h"

// The library's own name.
namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}  // namespace CLI

namespace stepcast::cli {

/// As the only word of a command: prints the names of its options.
inline constexpr std::string_view kListOptions = "--list-options";

/// Declare the options, then Parse. Names are "--long", "-s,--long", or a
/// word in capitals for what stands without an option. `type` is the word for
/// the value in the help. Values are filled by Parse and must live until then.
///
/// CLI11 stays inside: its headers take longer to compile than a command.
class OptionParser {
 public:
  using Type = std::optional<std::string_view>;

  OptionParser(std::string_view command, std::string_view help,
               std::string_view examples);
  OptionParser(const OptionParser&) = delete;
  OptionParser& operator=(const OptionParser&) = delete;
  ~OptionParser();

  /// What is added next stands under this heading in the help; empty: under
  /// the usual one.
  void BeginGroup(std::string_view title);

  void Add(std::string_view names, std::string& value, std::string_view help,
           Type type = std::nullopt);
  /// Takes all words that follow.
  void Add(std::string_view names, std::vector<std::string>& values,
           std::string_view help, Type type = std::nullopt);
  /// Takes one word, each time it is given.
  void AddRepeated(std::string_view names, std::vector<std::string>& values,
                   std::string_view help, std::string_view type);
  void AddFlag(std::string_view names, bool& value, std::string_view help);

  /// Fills the declared options. False if the user only asked for help, which
  /// is then printed. An unknown option is an error that names the nearest.
  Result<bool> Parse(const Words& words);

 private:
  /// "--gpu", ...
  std::vector<std::string> Names() const;

  std::unique_ptr<CLI::App> app_;
  std::string command_;
  std::string group_;
  bool help_ = false;
};

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_OPTION_PARSER_H_
