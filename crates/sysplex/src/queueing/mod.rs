//! Queueing networks: how response times and utilisations follow from service demands and load.
//!
//! A [`Network`] has stations (processors, disks, delays) and classes of work. A class is closed (so many users who
//! think between transactions) or open (transactions arrive at a rate). [`solve`] gives throughput, response time,
//! residence times and queue lengths: exactly where the network has a product form and is small enough
//! ([`exact`]), else by approximation ([`approximate`]), and says which. [`closed_form`] has the textbook stations that
//! both, and the simulator, are checked against.

mod approximate;
pub mod closed_form;
mod exact;
mod network;
mod open;
mod priority;

pub use network::{Class, Load, Method, Network, NetworkError, Solution, Station, StationKind};

/// States of the exact recursion above which the approximation is used.
const MOST_STATES: usize = 2_000_000;

/// Solves a network.
///
/// Open classes are taken first. They leave the closed classes a slower station: a demand counts `1 / (1 - rho)` times,
/// with `rho` the share of the station that open work takes (exact with one server, an approximation with several). A
/// class with a lower priority number is served first at the stations that serve by priority, and interrupts those below
/// it: exact for open classes with exponential services of one mean, else an approximation.
///
/// # Errors
/// A demand, a rate or a think time that means nothing, or an open load that a station cannot serve.
pub fn solve(network: &Network) -> Result<Solution, NetworkError> {
    solve_by(network, None)
}

/// Solves a network approximately, however small it is.
///
/// # Errors
/// As [`solve`].
pub fn solve_approximately(network: &Network) -> Result<Solution, NetworkError> {
    solve_by(network, Some(Method::Approximate))
}

fn solve_by(network: &Network, method: Option<Method>) -> Result<Solution, NetworkError> {
    network.check()?;
    let seen = open::slowed(network)?;
    let closed = network.closed_classes();
    let mut solution = if closed.is_empty() {
        Solution::empty(network, Method::Exact)
    } else if method.is_none() && is_small(network, &closed) {
        exact::solve(network, &closed, &seen)
    } else {
        approximate::solve(network, &closed, &seen)
    };
    open::add(network, &mut solution);
    if network.has_priorities() || (network.is_mixed() && network.has_several_servers()) {
        solution.method = Method::Approximate;
    }
    Ok(solution)
}

fn is_small(network: &Network, closed: &[usize]) -> bool {
    let shared = exact::shared_stations(network).len();
    !network.has_priorities()
        && shared <= exact::MOST_SHARED
        && network.states(closed).saturating_mul(1 << shared) <= MOST_STATES
}
