#include "explore/where.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text/nearest.h"
#include "base/text/value_text.h"

namespace stepcast::explore {

struct Where::Node {
  enum class Kind : uint8_t { kAnd, kOr, kNot, kCompare };
  Kind kind = Kind::kCompare;
  std::shared_ptr<const Node> left{};
  std::shared_ptr<const Node> right{};
  std::string column{};
  std::string op{};
  std::string word{};
  std::optional<double> number{};
};

namespace {

using Node = Where::Node;
using NodePtr = std::shared_ptr<const Node>;

// Nesting beyond any condition that a person writes.
constexpr int kMostDepth = 64;

bool IsWordLetter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
         std::string_view("_.+-:@/%").find(letter) != std::string_view::npos;
}

class Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& columns)
      : text_(text), columns_(columns) {}

  Result<NodePtr> Parse() {
    ASSIGN_OR_RETURN(NodePtr root, Either());
    if (!Peek().empty()) {
      return Wrong("'and', 'or' or the end");
    }
    return root;
  }

 private:
  tl::unexpected<Error> Wrong(std::string_view expected) {
    const std::string found(Peek());
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("condition '{}' has {}; expected {}", text_,
                            found.empty() ? "an end too early"
                                          : fmt::format("'{}'", found),
                            expected));
  }

  // The next word, operator or parenthesis; empty at the end.
  std::string_view Peek() {
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
    }
    if (at_ == text_.size()) {
      return {};
    }
    const std::string_view rest = text_.substr(at_);
    if (rest[0] == '\'' || rest[0] == '"') {
      const size_t end = rest.find(rest[0], 1);
      return rest.substr(0, end == std::string_view::npos ? end : end + 1);
    }
    for (const std::string_view op : {">=", "<=", "!=", "=="}) {
      if (rest.starts_with(op)) {
        return rest.substr(0, 2);
      }
    }
    size_t size = 0;
    while (size < rest.size() && IsWordLetter(rest[size])) {
      ++size;
    }
    return rest.substr(0, std::max<size_t>(size, 1));
  }

  std::string_view Take() {
    const std::string_view word = Peek();
    at_ += word.size();
    return word;
  }

  Result<NodePtr> Either() {
    ASSIGN_OR_RETURN(NodePtr left, Both());
    while (Peek() == "or") {
      Take();
      ASSIGN_OR_RETURN(NodePtr right, Both());
      left = std::make_shared<Node>(Node{.kind = Node::Kind::kOr,
                                         .left = std::move(left),
                                         .right = std::move(right)});
    }
    return left;
  }

  Result<NodePtr> Both() {
    ASSIGN_OR_RETURN(NodePtr left, One());
    while (Peek() == "and") {
      Take();
      ASSIGN_OR_RETURN(NodePtr right, One());
      left = std::make_shared<Node>(Node{.kind = Node::Kind::kAnd,
                                         .left = std::move(left),
                                         .right = std::move(right)});
    }
    return left;
  }

  Result<NodePtr> One() {
    if (++depth_ > kMostDepth) {
      return Wrong("fewer parentheses");
    }
    if (Peek() == "not") {
      Take();
      ASSIGN_OR_RETURN(NodePtr left, One());
      --depth_;
      return std::make_shared<const Node>(
          Node{.kind = Node::Kind::kNot, .left = std::move(left)});
    }
    if (Peek() == "(") {
      Take();
      ASSIGN_OR_RETURN(NodePtr inner, Either());
      if (Peek() != ")") {
        return Wrong("')'");
      }
      Take();
      --depth_;
      return inner;
    }
    --depth_;
    return Comparison();
  }

  Result<NodePtr> Comparison() {
    const std::string column(Peek());
    if (std::ranges::find(columns_, column) == columns_.end()) {
      const std::vector<std::string_view> names(columns_.begin(),
                                                columns_.end());
      if (column.empty() || !IsWordLetter(column[0])) {
        return Wrong("a column");
      }
      return Fail(ErrorCode::kInvalidInput,
                  Unknown("column of a condition", column, names));
    }
    Take();
    Node node{.column = column};
    constexpr std::string_view kOperators[] = {
        ">=", "<=", "!=", "==", ">", "<", "="};
    if (std::ranges::find(kOperators, Peek()) == std::end(kOperators)) {
      node.op = "!=";
      node.number = 0;
      return std::make_shared<const Node>(std::move(node));
    }
    node.op = Take();
    node.op = node.op == "==" ? "=" : node.op;
    std::string_view word = Peek();
    if (word.empty() || word == ")" || word == "(") {
      return Wrong("a number or a word");
    }
    Take();
    const auto unit = UnitOfColumn(column);
    if (unit) {
      std::string quantity(word);
      if (IsUnit(Peek())) {
        quantity += Take();
      }
      const auto number = ParseQuantity(quantity, *unit);
      if (!number) {
        return Fail(ErrorCode::kInvalidInput,
                    fmt::format("condition '{}': {} is compared with a word; "
                                "{}",
                                text_, column, number.error().message));
      }
      node.number = *number;
      return std::make_shared<const Node>(std::move(node));
    }
    if (node.op != "=" && node.op != "!=") {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("condition '{}': {} is a word; expected = or != "
                              "instead of {}",
                              text_, column, node.op));
    }
    if (word[0] == '\'' || word[0] == '"') {
      node.word = word.substr(1, word.size() - (word.size() > 1 ? 2 : 1));
      return std::make_shared<const Node>(std::move(node));
    }
    node.word = word;
    return std::make_shared<const Node>(std::move(node));
  }

  std::string_view text_;
  const std::vector<std::string>& columns_;
  size_t at_ = 0;
  int depth_ = 0;
};

template <typename Value>
bool Compare(const Value& left, std::string_view op, const Value& right) {
  if (op == "=") {
    return left == right;
  }
  if (op == "!=") {
    return left != right;
  }
  if (op == "<") {
    return left < right;
  }
  if (op == "<=") {
    return left <= right;
  }
  return op == ">" ? left > right : left >= right;
}

bool HoldsAt(const Node& node, const CellReader& cells) {
  switch (node.kind) {
    case Node::Kind::kAnd:
      return HoldsAt(*node.left, cells) && HoldsAt(*node.right, cells);
    case Node::Kind::kOr:
      return HoldsAt(*node.left, cells) || HoldsAt(*node.right, cells);
    case Node::Kind::kNot:
      return !HoldsAt(*node.left, cells);
    case Node::Kind::kCompare:
      break;
  }
  const Cell cell = cells.at(node.column);
  if (cell.number && node.number) {
    return Compare(*cell.number, node.op, *node.number);
  }
  return !cell.text.empty() && Compare(cell.text, node.op, node.word);
}

}  // namespace

Result<Where> Where::Parse(std::string_view text,
                           const std::vector<std::string>& columns) {
  ASSIGN_OR_RETURN(NodePtr root, Parser(text, columns).Parse());
  return Where(std::move(root));
}

bool Where::Holds(const CellReader& cells) const {
  return HoldsAt(*root_, cells);
}

}  // namespace stepcast::explore
