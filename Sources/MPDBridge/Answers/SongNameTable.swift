import LinuxSystem

/// The current names of songs, which depend on the folders of the library.
@PlayerLoop final class SongNameTable {
    /// The present names.
    private(set) var names = SongNames()

    /// A table without folders.
    init() {}

    /// Sets the folders of the library.
    func set(_ names: SongNames) { self.names = names }
}
