// A closed network of queues: customers that think, queue and come back, as
// threads do that compute, send requests to servers and go on computing.
#ifndef STEPCAST_FLEET_CLOSED_NETWORK_H_
#define STEPCAST_FLEET_CLOSED_NETWORK_H_

#include <vector>

namespace stepcast::fleet {

/// Something that serves one customer at a time, or `servers` of them.
struct Station {
  double demand_us = 0;  // Of one customer's round, alone.
  double servers = 1;    // That serve at a time, each a customer.
  double customers = 1;  // That come here: all, or those of one machine.
};

struct StationUse {
  double utilisation = 0;  // 0 to 1.
  double response_us = 0;  // Of a round, queueing included.
};

struct NetworkUse {
  double round_us = 0;  // Of a customer.
  std::vector<StationUse> stations{};
};

/// Solves by approximate mean value analysis (Schweitzer 1979): a customer that
/// arrives finds the queue that the others make on average. Service times are
/// as spread as exponential ones. Stations with several servers are a queue of
/// their joint speed and a delay (Seidmann 1987). `delay_us` is what a round
/// takes besides. Customers are alike; `customers` of a station is how many
/// share it.
NetworkUse SolveNetwork(const std::vector<Station>& stations, double delay_us);

}  // namespace stepcast::fleet

#endif  // STEPCAST_FLEET_CLOSED_NETWORK_H_
