import AudioCore
import CLateLibraries

/// libpulse, which nothing links: it brings ten libraries with it, and costs a start more than all that is ours.
package enum PulseLibrary {
    /// Opens it, or waits for the thread that does. False: it is not there. Any thread; reads files.
    package static func open() -> Bool { late_pulse_is_there() != 0 }

    /// The failure of a connection without the library.
    static let missing = OutputError(.noServer, "cannot load libpulse.so.0; install libpulse0")
}
