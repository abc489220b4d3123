// The words that settings know, for completion.
#ifndef STEPCAST_SCENARIO_WORDS_H_
#define STEPCAST_SCENARIO_WORDS_H_

#include <string>
#include <vector>

namespace stepcast::scenario {

std::vector<std::string> ModelWords();
std::vector<std::string> PlacementWords();
std::vector<std::string> ModeWords();
std::vector<std::string> PrecisionWords();
std::vector<std::string> ImplWords();
std::vector<std::string> CudaGraphWords();
std::vector<std::string> PlatformWords();
std::vector<std::string> GpuWords();
std::vector<std::string> ServerWords();
std::vector<std::string> RuntimeWords();
std::vector<std::string> OverheadWords();
std::vector<std::string> SwitchWords();

}  // namespace stepcast::scenario

#endif  // STEPCAST_SCENARIO_WORDS_H_
