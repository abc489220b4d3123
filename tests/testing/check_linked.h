// What must hold for every linked trace, whatever was read.
#ifndef STEPCAST_TESTS_TESTING_CHECK_LINKED_H_
#define STEPCAST_TESTS_TESTING_CHECK_LINKED_H_

#include <string>

#include "trace/link/link.h"

namespace stepcast::testing {

/// What is wrong first, or nothing: ids in range, parents before their
/// children, events in order, times that add up.
std::string FindBrokenLink(const trace::LinkedTrace& linked);

}  // namespace stepcast::testing

#endif  // STEPCAST_TESTS_TESTING_CHECK_LINKED_H_
