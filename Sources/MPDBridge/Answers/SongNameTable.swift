import LinuxSystem

/// The names of songs, which change with the folders of the library.
@PlayerLoop final class SongNameTable {
    /// The present names.
    private(set) var names = SongNames()

    /// A table without folders.
    init() {}

    /// The library has these folders now.
    func set(_ names: SongNames) { self.names = names }
}
