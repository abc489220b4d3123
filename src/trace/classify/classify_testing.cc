#include "trace/classify/classify_testing.h"

#include <list>

#include "base/check.h"
#include "base/text/string_pool.h"

namespace stepcast::trace {
namespace {

// Parsed arguments that stay where they are.
class Contexts {
 public:
  OpContext Add(const OpText& op) {
    if (op.types.empty() && op.collective.empty()) {
      return {.name = op.name};
    }
    arguments_.push_back(
        ParseArguments({.dims = strings_.Intern(op.dims),
                        .types = strings_.Intern(op.types),
                        .values = strings_.Intern(op.values),
                        .out_dims = strings_.Intern(op.out_dims),
                        .out_types = strings_.Intern(op.out_types),
                        .collective = strings_.Intern(op.collective)},
                       strings_));
    return {.name = op.name, .arguments = &arguments_.back()};
  }

 private:
  StringPool strings_;
  std::list<Arguments> arguments_;
};

}  // namespace

const Rules& BuiltInRules() {
  static const Result<Rules> rules = Rules::Load();
  CHECK(rules.has_value()) << rules.error().message;
  return *rules;
}

std::string ShapeOf(const LaunchText& launch) {
  Contexts contexts;
  std::vector<OpContext> ops;
  for (const OpText& op : launch.ops) {
    ops.push_back(contexts.Add(op));
  }
  const DeviceFacts facts{.name = launch.kernel,
                          .collective = launch.collective,
                          .partner = contexts.Add(launch.partner),
                          .siblings = launch.siblings,
                          .world_size = launch.world_size};
  return ir::ShapeText(ClassifyDevice(BuiltInRules(), facts, ops));
}

std::string ShapesOf(const OpText& op, const OpText& partner,
                     int64_t world_size) {
  Contexts contexts;
  const OpContext context = contexts.Add(op);
  std::string text;
  for (const ir::KernelShape& shape :
       ClassifyOp(BuiltInRules(), context, contexts.Add(partner), world_size)) {
    text += (text.empty() ? "" : "; ") + ir::ShapeText(shape);
  }
  return text;
}

}  // namespace stepcast::trace
