// What each setting does to a job, which words it knows, and where it has no
// effect.
#ifndef STEPCAST_SCENARIO_APPLY_H_
#define STEPCAST_SCENARIO_APPLY_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "scenario/job.h"
#include "scenario/settings.h"

namespace stepcast::scenario {

/// A machine that it does not run on, a model without the part: there the
/// setting would change nothing.
tl::unexpected<Error> NoEffect(std::string_view setting,
                               std::string_view reason);

// The model. Numbers are in the range of their setting.
Status ApplySparseFeatures(const Value& value, Job& job);
Status ApplyDenseFeatures(const Value& value, Job& job);
Status ApplyRows(const Value& value, Job& job);
Status ApplyRowsFactor(const Value& value, Job& job);
Status ApplyPooling(const Value& value, Job& job);
Status ApplyPoolingFactor(const Value& value, Job& job);
Status ApplyBottomMlp(const Value& value, Job& job);
Status ApplyTopMlp(const Value& value, Job& job);
Status ApplyMlpDepth(const Value& value, Job& job);
Status ApplyBottomDepth(const Value& value, Job& job);
Status ApplyTopDepth(const Value& value, Job& job);
Status ApplyMlpWidth(const Value& value, Job& job);
Status ApplyBottomWidth(const Value& value, Job& job);
Status ApplyTopWidth(const Value& value, Job& job);
Status ApplyMlpFactor(const Value& value, Job& job);
Status ApplyDim(const Value& value, Job& job);
Status ApplyDimFactor(const Value& value, Job& job);

// How it is run.
Status ApplyPlacement(const Value& value, Job& job);
Status ApplyBatch(const Value& value, Job& job);
Status ApplyMode(const Value& value, Job& job);
Status ApplyPrecision(const Value& value, Job& job);
Status ApplyImpl(const Value& value, Job& job);
Status ApplyCudaGraphs(const Value& value, Job& job);
Status ApplyPlan(const Value& value, Job& job);
Status ApplyPageable(const Value& value, Job& job);
Status ApplyFusedOptimizer(const Value& value, Job& job);
Status ApplyBucketMib(const Value& value, Job& job);
Status ApplyPrefetch(const Value& value, Job& job);

// Where. A GPU, a platform and a server each end what the others said; a
// scenario that names several says so in the order of the table.
Status ApplyPlatform(const Value& value, Job& job);
Status ApplyGpu(const Value& value, Job& job);
Status ApplyGpus(const Value& value, Job& job);
Status ApplyNodes(const Value& value, Job& job);
Status ApplyServer(const Value& value, Job& job);
Status ApplyRuntime(const Value& value, Job& job);
Status ApplySparseServer(const Value& value, Job& job);
Status ApplyDenseServer(const Value& value, Job& job);

// Figures of the platform or server that is named, instead of its file's.
Status ApplyPlatformFigure(std::string_view key, const Value& value, Job& job);
Status ApplyServerFigure(std::string_view key, const Value& value, Job& job);

// Times.
Status ApplyOverheads(const Value& value, Job& job);
Status ApplyProfiled(const Value& value, Job& job);
Status ApplySamples(const Value& value, Job& job);
Status ApplySeed(const Value& value, Job& job);

// Fail for words that nothing is called.
Status KnownModel(const std::string& word);
Status KnownImpl(const std::string& word);
Status KnownPlatform(const std::string& word);
Status KnownGpu(const std::string& word);
Status KnownOverheads(const std::string& word);
Status KnownServer(const std::string& word);

// Fail where the job makes nothing of the setting.
Status CheckNodes(const Job& job);
Status CheckServerNic(const Job& job);
Status CheckCudaGraphs(const Job& job);
Status CheckFusedOptimizer(const Job& job);
Status CheckBucketMib(const Job& job);
Status CheckPrefetch(const Job& job);

}  // namespace stepcast::scenario

#endif  // STEPCAST_SCENARIO_APPLY_H_
