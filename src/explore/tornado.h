// How far a conclusion moves with each input that is not known well.
#ifndef STEPCAST_EXPLORE_TORNADO_H_
#define STEPCAST_EXPLORE_TORNADO_H_

#include <filesystem>
#include <string>
#include <vector>

#include "explore/study.h"

namespace stepcast::explore {

/// One input at its low and at its high value, all others as they are.
struct TornadoBar {
  std::string setting{};
  std::string low{};  // The values, as text.
  std::string high{};
  std::string why{};
  double at_low = 0;  // What the conclusion becomes; not a number: none.
  double at_high = 0;
};

struct Tornado {
  std::string name{};
  std::string metric{};
  bool is_ratio = false;
  double usual = 0;                // The conclusion as it stands.
  std::vector<TornadoBar> bars{};  // The widest first.
};

/// Predicts every sensitivity of the study, with profiles as of rows.
std::vector<Tornado> MakeTornados(
    const Study& study,
    const std::vector<std::filesystem::path>& profiles = {});

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_TORNADO_H_
