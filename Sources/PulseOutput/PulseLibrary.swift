import AudioCore
import CLateLibraries
import CLibraryNames

/// libpulse. No program links it: it loads ten other libraries, and would take longer at a start than all of our own
/// code.
package enum PulseLibrary {
    /// Opens the library, or waits for the thread that opens it. False: it is not installed. Any thread; reads files.
    package static func open() -> Bool { late_pulse_is_there() != 0 }

    /// Words for people about a library that is not installed.
    package static let advice = "cannot load \(LIBRARY_PULSE_FILE); install \(LIBRARY_PULSE_PACKAGE)"
    /// The failure of a connection without the library.
    static let missing = OutputError(.noServer, advice)
}
