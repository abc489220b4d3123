#include "report/alike_text.h"

#include <vector>

#include <fmt/format.h>

#include "base/join.h"
#include "base/text_table.h"
#include "report/text_parts.h"

namespace stepcast::report {

std::string AlikeText(std::span<const engine::RankAccount> accounts) {
  if (accounts.size() == 1 && accounts.front().alike > 1) {
    return fmt::format("rank {} stands for all {}, which are alike",
                       accounts.front().rank,
                       WithThousands(accounts.front().alike));
  }
  constexpr size_t kMost = 8;
  std::vector<std::string> texts;
  size_t more = 0;
  for (const engine::RankAccount& account : accounts) {
    if (account.alike > 1 && texts.size() == kMost) {
      ++more;
    } else if (account.alike > 1) {
      texts.push_back(fmt::format("rank {} {}{} alike", account.rank,
                                  texts.empty() ? "stands for " : "for ",
                                  WithThousands(account.alike)));
    }
  }
  if (more > 0) {
    texts.push_back(fmt::format("{} more likewise", more));
  }
  return Join(texts, ", ");
}

std::string RankName(const engine::RankAccount& account) {
  return account.alike > 1
             ? fmt::format("rank {} × {}", account.rank, account.alike)
             : fmt::format("rank {}", account.rank);
}

}  // namespace stepcast::report
