#include "engine/short_name.h"

#include <array>

namespace stepcast::engine {

std::string ShortOpName(std::string_view name) {
  constexpr std::array<std::string_view, 2> kEngine = {
      "autograd::engine::evaluate_function: ", "torch::autograd::"};
  for (const std::string_view prefix : kEngine) {
    if (name.starts_with(prefix) && name.size() > prefix.size()) {
      name.remove_prefix(prefix.size());
    }
  }
  return std::string(name);
}

std::string ShortWorkName(std::string_view name) {
  constexpr std::string_view kReturned = "void ";
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  if (name.starts_with("Memcpy") || name.starts_with("Memset")) {
    return std::string(name);
  }
  const std::string_view whole = name;
  if (name.starts_with(kReturned)) {
    name.remove_prefix(kReturned.size());
  }
  // Up to the template's or the function's arguments, from the last space on.
  size_t end = 0;
  size_t begin = 0;
  while (end < name.size() && name[end] != '<') {
    if (name.substr(end).starts_with(kUnnamed)) {
      end += kUnnamed.size();
      begin = end;
    } else if (name.substr(end).starts_with("::")) {
      end += 2;
      begin = end;
    } else if (name[end] == '(') {
      break;
    } else {
      ++end;
    }
  }
  const std::string_view found = name.substr(begin, end - begin);
  return std::string(found.empty() ? whole : found);
}

}  // namespace stepcast::engine
