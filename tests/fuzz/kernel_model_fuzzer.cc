// Any bytes as the file of a fitted model, and what is read written again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cost/fitted_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto model = stepcast::cost::ParseModel(text, "x.model");
  if (!model) {
    CHECK(!model.error().message.empty());
    return 0;
  }
  // The trees come back as they were written.
  const std::string trees = model->forest.Text();
  const auto again =
      stepcast::cost::Forest::Parse(trees, model->low.size(), "x");
  CHECK(again.has_value());
  CHECK(again->Text() == trees);
  return 0;
}
