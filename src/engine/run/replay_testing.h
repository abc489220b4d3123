// Replays of steps in graph text, for tests.
#ifndef STEPCAST_ENGINE_RUN_REPLAY_TESTING_H_
#define STEPCAST_ENGINE_RUN_REPLAY_TESTING_H_

#include <memory>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "engine/run/replay.h"
#include "ir/graph_testing.h"

namespace stepcast::engine {

inline Replay ReplayOf(std::string_view text) {
  auto replay =
      ReplayStep(std::make_shared<const ir::Graph>(ir::GraphOf(text)));
  CHECK(replay.has_value()) << replay.error().message;
  return *std::move(replay);
}

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_RUN_REPLAY_TESTING_H_
