#include "fleet/closed_network.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stepcast::fleet {
namespace {

// A station as a queue and a delay.
struct Queue {
  double queue_us = 0;
  double delay_us = 0;
  double others = 0;  // Of the customers, those that one may find.
  double customers = 1;
};

Queue QueueOf(const Station& station) {
  if (station.customers <= station.servers) {
    return {.delay_us = station.demand_us, .customers = station.customers};
  }
  const double queue = station.demand_us / station.servers;
  return {.queue_us = queue,
          .delay_us = station.demand_us - queue,
          .others = (station.customers - 1) / station.customers,
          .customers = station.customers};
}

// What a queue takes if every customer's round takes `round_us`: it finds the
// others' share of customers / round_us arrivals a microsecond, each of which
// stays as long.
double ResponseUs(const Queue& queue, double round_us) {
  const double busy =
      queue.others * queue.customers / round_us * queue.queue_us;
  return queue.queue_us / (1 - busy);
}

// The round that follows from assuming `round_us`, if no queue overflows.
double NextRound(const std::vector<Queue>& queues, double round_us) {
  double sum = 0;
  for (const Queue& queue : queues) {
    sum += queue.delay_us + ResponseUs(queue, round_us);
  }
  return sum;
}

}  // namespace

NetworkUse SolveNetwork(const std::vector<Station>& stations, double delay_us) {
  std::vector<Queue> queues;
  queues.reserve(stations.size());
  // No round is shorter than the busiest queue's service of all customers, nor
  // than all services alone.
  double low = delay_us;
  double least = 0;
  for (const Station& station : stations) {
    queues.push_back(QueueOf(station));
    low += station.demand_us;
    least = std::max(least, queues.back().queue_us * queues.back().customers);
  }
  low = std::max(low, least);
  // The next round falls as the assumed one grows, so they meet once: by
  // bisection between the least and what is long enough.
  double high = std::max(low, 1e-9);
  while (delay_us + NextRound(queues, high) > high) {
    high *= 2;
  }
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (delay_us + NextRound(queues, middle) > middle ? low : high) = middle;
  }
  NetworkUse use{.round_us = high};
  for (size_t i = 0; i < stations.size(); ++i) {
    const Queue& queue = queues[i];
    use.stations.push_back(
        {.utilisation = stations[i].customers / high * stations[i].demand_us /
                        std::max(stations[i].servers, 1.0),
         .response_us = queue.delay_us + ResponseUs(queue, high)});
  }
  return use;
}

}  // namespace stepcast::fleet
