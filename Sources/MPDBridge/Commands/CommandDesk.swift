import LinuxSystem
import MPDProtocol

/// Carries out one group of the commands of a partition.
@PlayerLoop protocol CommandDesk: AnyObject {
    /// Carries out a command. It writes the answer by the client's `write` before `finish`. Throws MPD's message.
    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure)
}
