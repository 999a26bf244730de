/// The runs of one program that wait for its present run to end, at most one for each list of arguments.
///
/// A newer run replaces a waiting one with the same arguments and goes to the end. So the last of two opposite runs
/// (`on`, `off`) is always the newest. A run with other arguments replaces nothing.
struct WaitingRuns<Occasion> {
    private var runs: [(arguments: [String], occasion: Occasion)] = []

    /// Adds a run. `merge` makes one occasion of the waiting one and the newer one.
    mutating func add(_ occasion: Occasion, _ arguments: [String], merge: (_ earlier: Occasion, Occasion) -> Occasion) {
        guard let index = runs.firstIndex(where: { $0.arguments == arguments }) else {
            return runs.append((arguments, occasion))
        }
        let earlier = runs.remove(at: index).occasion
        runs.append((arguments, merge(earlier, occasion)))
    }

    /// Takes out the run that waits for the longest time; nil: none waits.
    mutating func next() -> (arguments: [String], occasion: Occasion)? { runs.isEmpty ? nil : runs.removeFirst() }

    /// Drops all of them.
    mutating func removeAll() { runs = [] }
}
