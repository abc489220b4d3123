// What large kernels sustain on a GPU: as measured there, or as on another card
// of its chip.
#ifndef STEPCAST_COST_CEILINGS_H_
#define STEPCAST_COST_CEILINGS_H_

#include "cost/profile.h"
#include "hw/device.h"

namespace stepcast::cost {

/// The ceilings of a profile set on its device.
void ApplyCeilings(const Profile& profile, hw::Device& device);

/// Those of `other`, a card of the same chip, where the device has none of its
/// own. Products get no more than the device's power allows.
void BorrowCeilings(const Profile& profile, const hw::Device& other,
                    hw::Device& device);

/// Those of `fitted`, the device as published, where a device with figures to
/// try has none that were asked for.
void KeepCeilings(const hw::Device& fitted, hw::Device& device);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_CEILINGS_H_
