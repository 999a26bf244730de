import LinuxSystem
import TrackDatabase

/// Reason why a scan ended early. Its earlier writes stay.
enum ScanFailure: Error, Equatable, Sendable {
    case database(TrackDatabaseError)
    /// No file can be read.
    case reader(SystemError)
    /// The scan was abandoned.
    case abandoned

    /// Words for people; nil: nothing failed.
    var message: String? {
        switch self {
        case .database(let error): error.message
        case .reader(let error): "no file can be read: \(error.message)"
        case .abandoned: nil
        }
    }

    /// Carries out work with the database.
    static func wrap<Result>(_ body: () throws(TrackDatabaseError) -> Result) throws(ScanFailure) -> Result {
        do throws(TrackDatabaseError) { return try body() } catch { throw .database(error) }
    }
}
