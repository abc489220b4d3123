#include "whatif/case.h"

#include <algorithm>
#include <utility>

#include "engine/replay.h"

namespace stepcast::whatif {
namespace {

engine::PricedWorks MeasuredWorks(const ir::GraphData& data,
                                  const lower::WorkTimes& times) {
  engine::PricedWorks works;
  works.models.emplace_back();
  works.prices = IdVector<ir::WorkId, engine::WorkPrice>(data.works.size());
  double total = 0;
  for (const ir::WorkId id : data.works.ids()) {
    const double us = ToMicroseconds(times.works[id].duration);
    works.prices[id] = {.p10_us = us,
                        .p50_us = us,
                        .p90_us = us,
                        .source = data.works[id].measured
                                      ? engine::PriceSource::kMeasured
                                      : engine::PriceSource::kUnknown};
    total += us;
  }
  works.coverage[static_cast<size_t>(engine::PriceSource::kMeasured)] =
      total > 0 ? 1 : 0;
  return works;
}

}  // namespace

Result<Case> CaseOfModel(const engine::Request& request,
                         const engine::PredictOptions& options,
                         engine::Predictor& predictor) {
  ASSIGN_OR_RETURN(engine::ModelPrediction predicted,
                   predictor.Predict(request, options));
  auto model =
      std::make_shared<const engine::ModelPrediction>(std::move(predicted));
  Case made = CaseOfPrediction(
      std::shared_ptr<const ir::Graph>(model, &model->graph), model->prediction,
      {.gpu = model->gpu,
       .platform = model->platform,
       .gpus = model->ranks,
       .nodes = request.nodes,
       .server = request.server,
       .runtime = model->runtime},
      options);
  made.options.system_spread = engine::kSystemSpread;
  made.request = request;
  made.model = std::move(model);
  return made;
}

Result<Case> CaseOfTrace(std::shared_ptr<const ir::Graph> graph, Place place,
                         const engine::PredictOptions& options) {
  ASSIGN_OR_RETURN(engine::Replay replay, engine::ReplayStep(*graph));
  engine::Prediction prediction;
  prediction.works = MeasuredWorks(graph->data(), replay.times.times);
  prediction.accounts = std::move(replay.accounts);
  prediction.spans = engine::SingleSpans(replay.lowered, replay.schedule);
  prediction.plan = std::move(replay.plan);
  prediction.lowered = std::move(replay.lowered);
  prediction.schedule = std::move(replay.schedule);
  prediction.critical_path = std::move(replay.critical_path);
  prediction.step = LongestOf(prediction.spans);
  prediction.interval = {prediction.step, prediction.step, prediction.step};
  Case made = CaseOfPrediction(std::move(graph), std::move(prediction),
                               std::move(place), options);
  // What is measured is certain.
  made.options.repeats = 1;
  made.options.host_spread = 0;
  made.options.system_spread = 0;
  return made;
}

Case CaseOfPrediction(std::shared_ptr<const ir::Graph> graph,
                      engine::Prediction prediction, Place place,
                      const engine::PredictOptions& options) {
  Case made;
  made.times = TimesOf(graph->data(), prediction, place);
  made.graph = std::move(graph);
  made.prediction = std::move(prediction);
  made.place = std::move(place);
  made.options = options;
  return made;
}

}  // namespace stepcast::whatif
