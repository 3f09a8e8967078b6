//! Open classes, and what they leave to the others.

use super::closed_form::erlang_c;
use super::network::{Network, NetworkError, Solution, Station, StationKind};

/// Demands of all classes by station, stretched by the open work that goes before them.
pub(super) fn slowed(network: &Network) -> Result<Vec<Vec<f64>>, NetworkError> {
    let mut seen = Vec::with_capacity(network.stations.len());
    for station in &network.stations {
        let whole = share(network, station, u32::MAX);
        if station.is_queue() && whole >= 1.0 {
            return Err(NetworkError::Saturated { station: station.name.clone(), percent: whole * 100.0 });
        }
        let stretched = network.classes.iter().zip(&station.demands).map(|(class, &demand)| match station.kind {
            StationKind::Delay => demand,
            StationKind::Queue { .. } => demand / (1.0 - whole),
            // Open work of the same priority takes its share of the server too.
            StationKind::Priority { .. } => demand / (1.0 - share(network, station, class.priority)),
        });
        seen.push(stretched.collect());
    }
    Ok(seen)
}

/// Share of the servers that open work up to a priority keeps busy.
fn share(network: &Network, station: &Station, priority: u32) -> f64 {
    let classes = network.classes.iter().enumerate().filter(|(_, class)| class.priority <= priority);
    classes.map(|(number, _)| network.rate(number) * station.demands[number]).sum::<f64>() / station.servers()
}

/// Adds the open classes, and the utilisation of all, to what was found for the closed ones.
pub(super) fn add(network: &Network, solution: &mut Solution) {
    let closed = network.closed_classes();
    for (class, about) in network.classes.iter().enumerate() {
        if closed.contains(&class) {
            continue;
        }
        let rate = network.rate(class);
        solution.throughput[class] = rate;
        for (number, station) in network.stations.iter().enumerate() {
            let ahead = closed.iter().filter(|&&other| waits_for(network, station, class, other));
            let inside: f64 = ahead.map(|&other| solution.queue[number][other]).sum();
            let time = residence(network, station, class, about.priority, inside);
            solution.residence[number][class] = time;
            solution.queue[number][class] = rate * time;
            solution.response[class] += time;
        }
    }
    for (number, station) in network.stations.iter().enumerate() {
        let busy: f64 = station.demands.iter().zip(&solution.throughput).map(|(demand, rate)| demand * rate).sum();
        solution.utilisation[number] = busy / station.servers();
    }
}

/// Seconds of an open class in a station; `inside` are the transactions of closed classes there that it waits for.
fn residence(network: &Network, station: &Station, class: usize, priority: u32, inside: f64) -> f64 {
    let (demand, servers) = (station.demands[class], station.servers());
    let alone = |busy: f64| {
        let wait = erlang_c(servers as u32, busy * servers) / (servers * (1.0 - busy));
        demand * (1.0 + wait)
    };
    match station.kind {
        StationKind::Delay => demand,
        StationKind::Queue { .. } => {
            let busy = share(network, station, u32::MAX);
            alone(busy) + demand * inside / (servers * (1.0 - busy))
        }
        StationKind::Priority { .. } => {
            let above = priority.checked_sub(1).map_or(0.0, |higher| share(network, station, higher));
            // The station without those above is slower by what they take, and as busy with the rest as it looks.
            let level = share(network, station, priority);
            let busy = (level - above) / (1.0 - above);
            alone(busy) / (1.0 - above) + demand * inside / (servers * (1.0 - level))
        }
    }
}

/// Whether a class waits for the transactions of another at a station.
fn waits_for(network: &Network, station: &Station, class: usize, other: usize) -> bool {
    !matches!(station.kind, StationKind::Priority { .. })
        || network.classes[other].priority <= network.classes[class].priority
}
