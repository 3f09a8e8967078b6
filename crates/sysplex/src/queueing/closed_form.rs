//! Stations with a known answer (Kleinrock, "Queueing Systems", volume 1, 1975; Lazowska and others, "Quantitative
//! System Performance", 1984). Rates a second, times in seconds.

/// Probability that an arrival finds all of `servers` busy (Erlang's C formula) where `offered` servers are busy on the
/// average; one where there are not enough of them.
pub fn erlang_c(servers: u32, offered: f64) -> f64 {
    let count = f64::from(servers);
    if offered >= count {
        return 1.0;
    }
    // Erlang's B by its recursion, which neither overflows nor cancels.
    let blocked = (1..=servers).fold(1.0, |b, k| offered * b / (f64::from(k) + offered * b));
    let rho = offered / count;
    blocked / (1.0 - rho * (1.0 - blocked))
}

/// Mean response time of M/M/c; infinite where the servers cannot keep up.
pub fn mmc_response(rate: f64, service: f64, servers: u32) -> f64 {
    let offered = rate * service;
    let free = f64::from(servers) - offered;
    if free <= 0.0 {
        return f64::INFINITY;
    }
    service + erlang_c(servers, offered) * service / free
}

/// Mean response time of M/G/1, first come first served (Pollaczek and Khinchine), from the squared coefficient of
/// variation of the service time: 1 for M/M/1, 0 for M/D/1.
pub fn mg1_response(rate: f64, service: f64, squared_variation: f64) -> f64 {
    let rho = rate * service;
    if rho >= 1.0 {
        return f64::INFINITY;
    }
    service + rho * service * (1.0 + squared_variation) / (2.0 * (1.0 - rho))
}

/// Mean response time of M/M/1 where classes of work are served by priority and interrupt those below them: rate and
/// mean service time of each class, the first served first.
pub fn preemptive_mm1_response(classes: &[(f64, f64)]) -> Vec<f64> {
    let mut above = 0.0;
    let mut residual = 0.0;
    let mut responses = Vec::new();
    for &(rate, service) in classes {
        let with = above + rate * service;
        residual += rate * service * service;
        let response = if with < 1.0 {
            service / (1.0 - above) + residual / ((1.0 - above) * (1.0 - with))
        } else {
            f64::INFINITY
        };
        responses.push(response);
        above = with;
    }
    responses
}

/// Throughput of the machine repair model: `users` who think for an exponential time and then ask one of `servers` for
/// an exponential service.
pub fn interactive_throughput(users: u32, think: f64, service: f64, servers: u32) -> f64 {
    if users == 0 {
        return 0.0;
    }
    if think == 0.0 {
        return f64::from(users.min(servers)) / service;
    }
    // Probabilities of `n` at the servers, up to a factor, from the balance of arrivals and ends.
    let mut weight = 1.0;
    let (mut sum, mut ended) = (1.0, 0.0);
    for n in 1..=users {
        let busy = f64::from(n.min(servers));
        weight *= f64::from(users - n + 1) / think * service / busy;
        sum += weight;
        ended += weight * busy / service;
        if sum > 1e200 {
            (weight, sum, ended) = (weight / 1e200, sum / 1e200, ended / 1e200);
        }
    }
    ended / sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found} is not {expected}");
    }

    #[test]
    fn one_server_is_the_textbook_formula() {
        // s / (1 - rho) = 0.02 / 0.2
        close(mmc_response(40.0, 0.02, 1), 0.1);
        close(mg1_response(40.0, 0.02, 1.0), 0.1);
        // s + rho s / (2 (1 - rho)) = 0.02 + 0.8 x 0.02 / 0.4
        close(mg1_response(40.0, 0.02, 0.0), 0.06);
    }

    #[test]
    fn two_servers_are_the_textbook_formula() {
        // M/M/2: s / (1 - rho^2), here rho = 0.75.
        close(mmc_response(1.5, 1.0, 2), 1.0 / (1.0 - 0.5625));
    }

    #[test]
    fn erlang_c_agrees_with_its_sum() {
        for servers in 1..12u32 {
            let offered = 0.83 * f64::from(servers);
            let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
            let tail = offered.powi(servers as i32) / factorial(servers) / (1.0 - 0.83);
            let sum: f64 = (0..servers).map(|k| offered.powi(k as i32) / factorial(k)).sum();
            close(erlang_c(servers, offered), tail / (sum + tail));
        }
    }

    #[test]
    fn one_class_with_priority_is_a_queue_without() {
        close(preemptive_mm1_response(&[(40.0, 0.02)])[0], 0.1);
        // The first class does not see the second.
        close(preemptive_mm1_response(&[(10.0, 0.05), (1.0, 0.3)])[0], 0.1);
    }

    #[test]
    fn too_much_work_never_ends() {
        assert_eq!(mmc_response(2.0, 1.0, 2), f64::INFINITY);
        assert_eq!(mg1_response(1.0, 1.0, 0.0), f64::INFINITY);
        assert_eq!(preemptive_mm1_response(&[(0.5, 1.0), (0.5, 1.0)])[1], f64::INFINITY);
    }

    #[test]
    fn one_user_never_waits() {
        close(interactive_throughput(1, 9.0, 1.0, 1), 0.1);
        close(interactive_throughput(3, 9.0, 1.0, 3), 0.3);
        close(interactive_throughput(100_000, 1.0, 0.5, 4), 8.0);
    }
}
