import AudioCore
package import AudioDecoders
package import LinuxSystem

/// Work on pictures that may be given up, whether it reads a disk or waits for the child. Any thread.
package final class ArtworkTask: Sendable {
    /// Set when it is given up.
    package let abandoned = AbandonFlag()
    /// Asks the child.
    package let fetch = PictureFetch()

    /// Nothing given up yet.
    package init() {}

    /// Nobody waits any more.
    package func giveUp() {
        abandoned.set()
        fetch.giveUp()
    }
}
