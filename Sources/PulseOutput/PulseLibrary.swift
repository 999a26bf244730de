import AudioCore
import CLateLibraries

/// libpulse. No program links it: it loads ten other libraries, and would take longer at a start than all of our own
/// code.
package enum PulseLibrary {
    /// Opens the library, or waits for the thread that opens it. False: it is not installed. Any thread; reads files.
    package static func open() -> Bool { late_pulse_is_there() != 0 }

    /// The failure of a connection without the library.
    static let missing = OutputError(.noServer, "cannot load libpulse.so.0; install libpulse0")
}
