// A thing and the name that it was found by.
#ifndef STEPCAST_BASE_NAMED_H_
#define STEPCAST_BASE_NAMED_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace stepcast {

/// The name says how the user asked for it, as in "h100-sxm-80gb@1200MHz" or
/// "my_gpu.toml": two things of one kind have two names, which is what those
/// that keep something for a thing keep it under.
template <typename T>
struct Named {
  std::string name{};
  std::shared_ptr<const T> value{};  // Null: there is none.

  explicit operator bool() const { return value != nullptr; }
  const T& operator*() const { return *value; }
  const T* operator->() const { return value.get(); }
};

template <typename T>
Named<T> MakeNamed(std::string_view name, T value) {
  return {.name = std::string(name),
          .value = std::make_shared<const T>(std::move(value))};
}

}  // namespace stepcast

#endif  // STEPCAST_BASE_NAMED_H_
