import AudioCore
package import LinuxSystem

/// Common part of the streams without a server: callbacks in a later turn of the loop, and drains.
@PlayerLoop package class SimulatedStream {
    let loop: EventLoop
    /// Nil: the stream was closed or died.
    private(set) weak var delegate: (any AudioStreamDelegate)?
    private(set) var isOpen = true
    private var drains: [@PlayerLoop (OutputError?) -> Void] = []

    init(_ loop: EventLoop, _ delegate: any AudioStreamDelegate) {
        self.loop = loop
        self.delegate = delegate
    }

    /// Calls the delegate in the next turn, if the stream is still open then.
    func notify(_ what: @escaping @PlayerLoop (any AudioStreamDelegate) -> Void) {
        loop.later { [self] in if isOpen, let delegate { what(delegate) } }
    }

    /// Completes a command in the next turn; with an error if the stream is closed.
    func complete(_ completion: @escaping @PlayerLoop (OutputError?) -> Void, _ error: OutputError? = nil) {
        loop.later { [self] in completion(isOpen ? error : .closed) }
    }

    var isDraining: Bool { !drains.isEmpty }

    /// Calls this once all that was written has played, or with an error when the stream is closed before.
    func addDrain(_ completion: @escaping @PlayerLoop (OutputError?) -> Void) { drains.append(completion) }

    /// All written frames have played: completes the waiting drains.
    func completeDrains() {
        for drain in drains { complete(drain) }
        drains = []
    }

    /// Closes the stream: afterwards it only fails its outstanding completions.
    func shut() {
        isOpen = false
        delegate = nil
        completeDrains()
    }
}
