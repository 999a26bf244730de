import AudioCore
package import AudioDecoders
package import LinuxSystem

/// Work on pictures. It can be abandoned while it reads a disk or waits for the child. Any thread.
package final class ArtworkTask: Sendable {
    /// Set when the work is abandoned.
    package let abandoned = AbandonFlag()
    /// Asks the child.
    package let fetch = PictureFetch()

    /// Work that is not abandoned.
    package init() {}

    /// Abandons the work.
    package func giveUp() {
        abandoned.set()
        fetch.giveUp()
    }
}
