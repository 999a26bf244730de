import LinuxSystem
import TrackDatabase

/// Reason for which a scan ends early. What it wrote until then stays.
enum ScanFailure: Error, Equatable, Sendable {
    case database(TrackDatabaseError)
    /// No file can be read.
    case reader(SystemError)
    /// Nobody wants it any more.
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
