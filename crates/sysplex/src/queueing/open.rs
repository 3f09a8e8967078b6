//! Open classes, and what they leave to the others.

use super::closed_form::erlang_c;
use super::network::{Network, NetworkError, Solution, Station, StationKind};
use super::priority;

/// Demands of all classes by station, stretched by the open work that shares it; stations that serve by priority are left
/// to [`priority`].
pub(super) fn slowed(network: &Network) -> Result<Vec<Vec<f64>>, NetworkError> {
    let mut seen = Vec::with_capacity(network.stations.len());
    for station in &network.stations {
        let whole = share(network, station);
        if station.is_queue() && whole >= 1.0 {
            return Err(NetworkError::Saturated { station: station.name.clone(), percent: whole * 100.0 });
        }
        let left = if station.is_queue() { 1.0 - whole } else { 1.0 };
        seen.push(station.demands.iter().map(|demand| demand / left).collect());
    }
    Ok(seen)
}

/// Share of the servers that open work keeps busy.
fn share(network: &Network, station: &Station) -> f64 {
    let work = station.demands.iter().enumerate().map(|(class, demand)| network.rate(class) * demand);
    work.sum::<f64>() / station.servers()
}

/// Adds the open classes, and the utilisation of all, to what was found for the closed ones.
pub(super) fn add(network: &Network, solution: &mut Solution) {
    let closed = network.closed_classes();
    let open = || (0..network.classes.len()).filter(|class| !closed.contains(class));
    for class in open() {
        solution.throughput[class] = network.rate(class);
    }
    for class in open() {
        for (number, station) in network.stations.iter().enumerate() {
            let time = residence(network, station, number, class, &closed, solution);
            solution.residence[number][class] = time;
            solution.queue[number][class] = solution.throughput[class] * time;
            solution.response[class] += time;
        }
    }
    for (number, station) in network.stations.iter().enumerate() {
        let busy: f64 = station.demands.iter().zip(&solution.throughput).map(|(demand, rate)| demand * rate).sum();
        solution.utilisation[number] = busy / station.servers();
    }
}

/// Seconds of an open class in a station.
fn residence(
    network: &Network,
    station: &Station,
    number: usize,
    class: usize,
    closed: &[usize],
    solution: &Solution,
) -> f64 {
    let (demand, servers) = (station.demands[class], station.servers());
    match station.kind {
        StationKind::Delay => demand,
        StationKind::Priority { .. } if network.has_priorities() => {
            let own = network.classes[class].priority;
            let meets = |&other: &usize| network.classes[other].priority <= own && station.demands[other] > 0.0;
            if closed.iter().any(meets) {
                priority::residence(network, station, number, class, solution).0
            } else {
                priority::open_residence(network, station, class, &solution.throughput)
            }
        }
        StationKind::Queue { .. } | StationKind::Priority { .. } => {
            let busy = share(network, station);
            let wait = erlang_c(servers as u32, busy * servers) / (servers * (1.0 - busy));
            let inside: f64 = closed.iter().map(|&other| solution.queue[number][other]).sum();
            demand * (1.0 + wait) + demand * inside / (servers * (1.0 - busy))
        }
    }
}
