#include "ir/text/text_statements.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/text/join.h"
#include "ir/names.h"
#include "ir/text/shape_text.h"
#include "ir/text/text_atoms.h"

namespace stepcast::ir {
namespace {

tl::unexpected<Error> Bad(TextWord word, std::string_view what) {
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("{}: {}", Shown(word), what));
}

tl::unexpected<Error> Unknown(TextWord word, std::string_view expected) {
  return Fail(
      ErrorCode::kInvalidInput,
      fmt::format("unknown word {}; expected {}", Shown(word), expected));
}

// The part of `text` after `key`, if it begins with that.
std::optional<std::string_view> After(std::string_view key,
                                      std::string_view text) {
  if (!text.starts_with(key)) {
    return std::nullopt;
  }
  return text.substr(key.size());
}

template <typename E>
Result<E> ParseName(std::string_view text) {
  if (const auto found = FromName<E>(text)) {
    return *found;
  }
  return Unknown({.text = text}, Join(Names<E>::kList, ", "));
}

Result<int64_t> ParseNumber(std::string_view text) {
  const std::optional<int64_t> number = ParseInt(text);
  if (!number) {
    return Bad({.text = text}, "expected a whole number");
  }
  return *number;
}

Result<StreamName> ParseStreamWord(std::string_view text) {
  const std::optional<StreamName> stream = ParseStream(text);
  if (!stream) {
    return Bad({.text = text}, "expected the number of a stream");
  }
  return *stream;
}

Result<std::string_view> ParseLabel(std::string_view text) {
  if (text.size() < 2 || !text.starts_with('#')) {
    return Bad({.text = text}, "expected a label such as '#w1'");
  }
  return text.substr(1);
}

Result<std::string> ParseQuoted(TextWord word) {
  std::optional<std::string> text = Unquote(word.text);
  if (!text) {
    return Bad(word, "an escape in it is none of JSON's and not '\\xNN'");
  }
  return *std::move(text);
}

// The next word, which must be there and not be quoted.
Result<std::string_view> NextWord(TextLine& line, std::string_view expected) {
  ASSIGN_OR_RETURN(const std::optional<TextWord> word, line.Next());
  if (!word || word->quoted) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}; expected {}",
                            word ? Shown(*word) : "the line ends", expected));
  }
  return word->text;
}

// The next word, which must be in quotes; `before` is what an earlier one of
// the line said.
Result<std::string> NextQuoted(TextLine& line, std::string_view before) {
  ASSIGN_OR_RETURN(const std::optional<TextWord> word, line.Next());
  if (!word || !word->quoted) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}; expected text in quotes",
                            word ? Shown(*word) : "the line ends"));
  }
  if (!before.empty()) {
    return Bad(*word, "the line has one already");
  }
  return ParseQuoted(*word);
}

template <typename E>
Result<E> NextName(TextLine& line) {
  ASSIGN_OR_RETURN(const std::string_view word,
                   NextWord(line, Join(Names<E>::kList, ", ")));
  return ParseName<E>(word);
}

// What several kinds of lines may have after their first words.
struct Common {
  std::optional<std::string> name{};
  std::optional<Measured> measured{};
  std::string_view label{};

  std::string TakeName() { return std::move(name).value_or(""); }
};

// Keeps `word` if it is a name, a time or a label; false if it is none.
Result<bool> TakeCommon(TextWord word, Common& common) {
  const bool is_time = !word.quoted && word.text.starts_with('@');
  const bool is_label = !word.quoted && word.text.starts_with('#');
  if ((word.quoted && common.name) || (is_time && common.measured) ||
      (is_label && !common.label.empty())) {
    return Bad(word, "the line has one already");
  }
  if (word.quoted) {
    ASSIGN_OR_RETURN(common.name, ParseQuoted(word));
  } else if (is_time) {
    common.measured = ParseTime(word.text);
    if (!common.measured) {
      return Bad(word,
                 "expected '@start+duration' in microseconds with up to 3 "
                 "decimals");
    }
  } else if (is_label) {
    ASSIGN_OR_RETURN(common.label, ParseLabel(word.text));
  }
  return word.quoted || is_time || is_label;
}

// Takes the rest of the line: common words, and others by take(word), which
// returns a Status.
template <typename Take>
Status TakeRest(TextLine& line, Common& common, Take take) {
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<TextWord> word, line.Next());
    if (!word) {
      return {};
    }
    ASSIGN_OR_RETURN(const bool taken, TakeCommon(*word, common));
    if (!taken) {
      RETURN_IF_ERROR(take(word->text));
    }
  }
}

// For lines that have nothing but common words; those other than `expected`
// must not be there.
Status TakeOnlyCommon(TextLine& line, Common& common,
                      std::string_view expected) {
  return TakeRest(line, common, [&](std::string_view word) -> Status {
    return Unknown({.text = word}, expected);
  });
}

Status NeedNone(bool is_there, std::string_view what) {
  if (is_there) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("this line cannot have {}", what));
  }
  return {};
}

// "s7" or "s7[3]", in front of the colon.
Status ParseActivityHead(std::string_view head, ActivityLine& activity) {
  const std::string_view text = head.substr(0, head.size() - 1);
  constexpr std::string_view kExpected =
      "expected a stream such as 's7:', or 's7[3]:' with the place on it";
  const size_t open = std::min(text.find('['), text.size());
  const std::optional<StreamName> stream =
      text.starts_with('s') ? ParseStream(text.substr(1, open - 1))
                            : std::nullopt;
  if (!stream || !head.ends_with(':')) {
    return Bad({.text = head}, kExpected);
  }
  activity.stream = *stream;
  if (open == text.size()) {
    return {};
  }
  const std::optional<int64_t> place =
      text.ends_with(']')
          ? ParseInt(text.substr(open + 1, text.size() - open - 2))
          : std::nullopt;
  constexpr int64_t kMaxPlace = std::numeric_limits<uint32_t>::max() - 1;
  if (!place || *place < 0 || *place > kMaxPlace) {
    return Bad({.text = head}, kExpected);
  }
  activity.place = static_cast<uint32_t>(*place);
  return {};
}

}  // namespace

Result<std::string> ParseSourceLine(TextLine& line) {
  Common common;
  RETURN_IF_ERROR(TakeOnlyCommon(line, common, "the source in quotes"));
  RETURN_IF_ERROR(NeedNone(common.measured.has_value(), "a time"));
  RETURN_IF_ERROR(NeedNone(!common.label.empty(), "a label"));
  return common.TakeName();
}

Result<RankLine> ParseRankLine(TextLine& line) {
  RankLine rank;
  ASSIGN_OR_RETURN(const std::string_view number,
                   NextWord(line, "the rank's number"));
  ASSIGN_OR_RETURN(rank.number, ParseNumber(number));
  Common common;
  RETURN_IF_ERROR(TakeRest(line, common, [&](std::string_view word) -> Status {
    if (const auto device = After("device=", word)) {
      ASSIGN_OR_RETURN(rank.device, ParseNumber(*device));
      return {};
    }
    return Unknown({.text = word},
                   "the device's name in quotes, device= or the time of the "
                   "step");
  }));
  RETURN_IF_ERROR(NeedNone(!common.label.empty(), "a label"));
  rank.gpu = common.TakeName();
  rank.step = common.measured;
  return rank;
}

Result<std::vector<StreamName>> ParseStreamsLine(TextLine& line) {
  std::vector<StreamName> streams;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<TextWord> word, line.Next());
    if (!word) {
      return streams;
    }
    ASSIGN_OR_RETURN(const StreamName stream, ParseStreamWord(word->text));
    streams.push_back(stream);
  }
}

Result<ThreadLine> ParseThreadLine(TextLine& line) {
  ThreadLine thread;
  ASSIGN_OR_RETURN(thread.role, NextName<ThreadRole>(line));
  Common common;
  RETURN_IF_ERROR(TakeOnlyCommon(line, common, "the thread's name in quotes"));
  RETURN_IF_ERROR(NeedNone(common.measured.has_value(), "a time"));
  RETURN_IF_ERROR(NeedNone(!common.label.empty(), "a label"));
  thread.name = common.TakeName();
  return thread;
}

Result<OpLine> ParseOpLine(TextLine& line) {
  OpLine op;
  Common common;
  RETURN_IF_ERROR(TakeRest(line, common, [&](std::string_view word) -> Status {
    if (const auto phase = After("phase=", word)) {
      ASSIGN_OR_RETURN(op.phase, ParseName<Phase>(*phase));
    } else if (const auto sequence = After("seq=", word)) {
      ASSIGN_OR_RETURN(op.sequence, ParseNumber(*sequence));
    } else if (word == "modules") {
      ASSIGN_OR_RETURN(op.modules, NextQuoted(line, op.modules));
    } else if (word == "site") {
      ASSIGN_OR_RETURN(op.site, NextQuoted(line, op.site));
    } else {
      return Unknown({.text = word},
                     "a name in quotes, phase=, seq=, modules, site, a time or "
                     "a label");
    }
    return {};
  }));
  op.name = common.TakeName();
  op.measured = common.measured;
  op.label = common.label;
  return op;
}

Status ParseTensorLine(TextLine& line, std::vector<Tensor>& tensors) {
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<TextWord> word, line.Next());
    if (!word) {
      return {};
    }
    std::optional<Tensor> tensor = ParseTensor(word->text);
    if (word->quoted || !tensor) {
      return Bad(*word, "expected a tensor such as 'fp32[16,13]@gpu#5'");
    }
    tensors.push_back(*std::move(tensor));
  }
}

Result<CallLine> ParseCallLine(TextLine& line) {
  CallLine call;
  ASSIGN_OR_RETURN(call.kind, NextName<CallKind>(line));
  Common common;
  RETURN_IF_ERROR(TakeRest(line, common, [&](std::string_view word) -> Status {
    if (const auto stream = After("stream=", word)) {
      ASSIGN_OR_RETURN(call.stream, ParseStreamWord(*stream));
    } else if (const auto event = After("event=", word)) {
      ASSIGN_OR_RETURN(call.event, ParseLabel(*event));
    } else if (word == "op=none") {
      call.outside_ops = true;
    } else if (const auto op = After("op=", word)) {
      ASSIGN_OR_RETURN(call.op, ParseLabel(*op));
    } else {
      return Unknown({.text = word},
                     "a name in quotes, stream=, event=, op=, a time or a "
                     "label");
    }
    return {};
  }));
  call.name = common.TakeName();
  call.measured = common.measured;
  call.label = common.label;
  return call;
}

Result<ActivityLine> ParseActivityLine(std::string_view head, TextLine& line) {
  ActivityLine activity;
  RETURN_IF_ERROR(ParseActivityHead(head, activity));
  ASSIGN_OR_RETURN(const std::string_view family, NextWord(line, "a shape"));
  ASSIGN_OR_RETURN(ShapeReader shape, ShapeReader::Start(family));
  Common common;
  std::optional<ActivityKind> kind;
  RETURN_IF_ERROR(TakeRest(line, common, [&](std::string_view word) -> Status {
    const auto found = FromName<ActivityKind>(word);
    if (!found) {
      return shape.Add(word);
    }
    if (kind) {
      return Bad({.text = word}, "the line has a kind of activity already");
    }
    kind = found;
    return {};
  }));
  activity.shape = shape.shape();
  activity.kind = kind.value_or(UsualKind(activity.shape));
  activity.name = common.TakeName();
  activity.measured = common.measured;
  activity.label = common.label;
  return activity;
}

Result<WaitLine> ParseWaitLine(TextLine& line) {
  constexpr std::string_view kExpected = "'#before -> #after'";
  WaitLine wait;
  ASSIGN_OR_RETURN(const std::string_view before, NextWord(line, kExpected));
  ASSIGN_OR_RETURN(wait.before, ParseLabel(before));
  ASSIGN_OR_RETURN(const std::string_view arrow, NextWord(line, kExpected));
  if (arrow != "->") {
    return Unknown({.text = arrow}, kExpected);
  }
  ASSIGN_OR_RETURN(const std::string_view after, NextWord(line, kExpected));
  ASSIGN_OR_RETURN(wait.after, ParseLabel(after));
  ASSIGN_OR_RETURN(std::optional<TextWord> word, line.Next());
  if (word && !word->quoted && word->text == "inferred") {
    wait.inferred = true;
    ASSIGN_OR_RETURN(word, line.Next());
  }
  if (word) {
    return Unknown(*word, "'inferred' or the end of the line");
  }
  return wait;
}

Result<CollectiveLine> ParseCollectiveLine(TextLine& line) {
  CollectiveLine collective;
  ASSIGN_OR_RETURN(collective.kind, NextName<CollectiveKind>(line));
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<TextWord> word, line.Next());
    if (!word) {
      return collective;
    }
    if (word->quoted) {
      return Unknown(*word, "labels of activities");
    }
    ASSIGN_OR_RETURN(const std::string_view label, ParseLabel(word->text));
    collective.activities.push_back(label);
  }
}

}  // namespace stepcast::ir
