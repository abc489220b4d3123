// What all formats for people share: values as text, and what is shown.
#ifndef STEPCAST_VIEW_PEOPLE_H_
#define STEPCAST_VIEW_PEOPLE_H_

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "view/doc.h"
#include "view/html/page.h"

namespace stepcast::view {

/// "6.407"; the unit is UnitOf.
std::string PeopleText(const Value& value, const Column& column);
/// "ms"; empty if it has none, or if the text says it.
std::string UnitOf(const Value& value, const Column& column);

struct PeopleColumn {
  std::string head{};  // "step ms"
  std::string key{};
  bool words = false;  // Not numbers.
  bool shares = false;
};

/// A table with the columns that people see, as text.
struct PeopleTable {
  std::vector<PeopleColumn> columns{};
  std::vector<std::vector<std::string>> rows{};
  /// Of the first column of shares; empty if there is none.
  std::vector<double> shares{};
};
PeopleTable PeopleTableOf(const Table& table);

/// The columns with the first rows, or those largest in a column, in their
/// order; at most so many.
Table CutRows(const Table& table, size_t most,
              std::optional<size_t> keep_by = {});
/// With the rows that text shows.
inline Table ShownRows(const Table& table) {
  return CutRows(table, table.limit == 0 ? table.RowCount() : table.limit,
                 table.keep_by);
}
/// "... 12 more", or nothing.
std::string MoreText(const Table& table, const Table& shown);

/// The facts that people see, with their units; those of blocks next to each
/// other together; `begin` moves past the last such block.
std::vector<html::Fact> PeopleFacts(const std::vector<Block>& blocks,
                                    size_t& begin);

/// Gives facts and the other blocks to a writer of a format.
template <typename Writer>
void VisitBlocks(const std::vector<Block>& blocks, Writer& writer) {
  for (size_t i = 0; i < blocks.size();) {
    writer.Add(PeopleFacts(blocks, i));
    if (i < blocks.size()) {
      std::visit(writer, blocks[i]);
      ++i;
    }
  }
}
/// The same for all of a group that people see.
template <typename Writer>
void VisitGroup(const Group& group, Writer& writer) {
  if (group.readers != Readers::kPrograms) {
    for (const auto& item : group.items) {
      VisitBlocks(item->blocks, writer);
    }
  }
}

/// Whether text and Markdown show it.
inline bool IsShown(const Table& table) {
  return (table.readers == Readers::kAll || table.readers == Readers::kText) &&
         !(table.RowCount() == 0 && table.none.empty());
}

/// "where the time goes: rank 3, the slowest"
std::string TitleOf(const Table& table);

/// "Where the time goes"
std::string Capitalized(std::string_view text);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_PEOPLE_H_
