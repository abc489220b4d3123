// Collects the parts of a graph in any order and makes the graph.
#ifndef STEPCAST_IR_GRAPH_BUILDER_H_
#define STEPCAST_IR_GRAPH_BUILDER_H_

#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "ir/shape_set.h"

namespace stepcast::ir {

// The one order in which a graph stores its parts.

/// Sorts everything as GraphData describes and renumbers the ids, which must
/// all be in range (VerifyIds); what compares equal keeps its order. Activities
/// get their collective from the collectives, double waits become one, and
/// shapes without an activity are dropped. Fails where parents form a cycle or
/// an activity is in two collectives.
Status Canonicalize(GraphData& data);

/// Ids that the Add functions return are good for use with the same builder;
/// the graph has others, because Build puts everything into the order that
/// GraphData describes. So graphs with the same content are equal whatever the
/// order they were filled in, except for what has neither a time nor another
/// key: that keeps the order of the calls.
class GraphBuilder {
 public:
  StringId Intern(std::string_view text) { return data_.strings.Intern(text); }
  void set_source(std::string_view source) { data_.source = Intern(source); }

  RankId AddRank(Rank rank) { return data_.ranks.push_back(rank); }
  ThreadId AddThread(Thread thread) { return data_.threads.push_back(thread); }
  StreamId AddStream(Stream stream) { return data_.streams.push_back(stream); }

  /// The tensors are the op's; op.inputs and op.outputs are not looked at.
  OpId AddOp(Op op, std::vector<Tensor> inputs = {},
             std::vector<Tensor> outputs = {});

  CallId AddCall(Call call) { return data_.calls.push_back(call); }

  /// activity.shape and activity.collective are ignored: they come from `shape`
  /// and from AddCollective.
  ActivityId AddActivity(Activity activity, const KernelShape& shape);

  /// The same wait may be added twice; recorded beats inferred.
  void AddStreamWait(StreamWait wait) { data_.stream_waits.push_back(wait); }
  void AddHostWait(HostWait wait) { data_.host_waits.push_back(wait); }

  CollectiveId AddCollective(MatchedCollective collective) {
    return data_.collectives.push_back(std::move(collective));
  }

  /// Sorts, renumbers and verifies. Fails where a rule of verify.h is broken.
  Result<Graph> Build() &&;

 private:
  IdRange<TensorId> AddTensors(std::vector<Tensor> tensors);

  GraphData data_;
  ShapeSet shapes_;
};

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_GRAPH_BUILDER_H_
