// How often tests of random or huge things try.
#ifndef STEPCAST_BASE_TRIES_TESTING_H_
#define STEPCAST_BASE_TRIES_TESTING_H_

namespace stepcast {

/// `all` in optimised builds; a tenth under sanitizers, which take twenty times
/// as long for each try and see in the first ones what they would see in all.
template <typename Count>
constexpr Count Tries(Count all) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return all / 10;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return all / 10;
#else
  return all;
#endif
#else
  return all;
#endif
}

}  // namespace stepcast

#endif  // STEPCAST_BASE_TRIES_TESTING_H_
