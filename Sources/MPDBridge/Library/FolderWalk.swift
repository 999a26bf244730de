import LinuxSystem
import MPDProtocol

/// Writes the lines of folders and playlists between the songs of a tree, which come folder by folder.
@PlayerLoop final class FolderWalk {
    /// True: playlists have times.
    private let withTimes: Bool
    private let begin: [UInt8]
    private var hasBegun = false
    private var folder: [UInt8] = []
    /// The written folders.
    private var known: Set<[UInt8]> = []
    private var playlists: [[UInt8]: [StoredLists.Found]] = [:]

    private static let slash = UInt8(ascii: "/")

    /// A walk of a folder and of these playlists in it.
    init(below folder: [UInt8], _ lists: [StoredLists.Found], withTimes: Bool) {
        self.withTimes = withTimes
        begin = folder
        for list in lists where folder.isEmpty || list.name.starts(with: folder + [Self.slash]) {
            playlists[Self.folder(of: list.name[...]), default: []].append(list)
        }
    }

    /// Writes the lines of songs unchanged, and the lines of their folders and playlists between them.
    func pass(_ songs: [UInt8], _ writer: inout AnswerWriter) {
        var written = 0
        for song in SongLines(songs) where !hasBegun || !isIn(folder, song.name) {
            writer.append(songs[written..<song.start])
            written = song.start
            enter(song.name, &writer)
        }
        writer.append(songs[written...])
    }

    /// True if the song is in the folder itself.
    private func isIn(_ folder: [UInt8], _ song: ArraySlice<UInt8>) -> Bool {
        guard let end = song.lastIndex(of: Self.slash) else { return folder.isEmpty }
        return end - song.startIndex == folder.count && song[..<end].elementsEqual(folder)
    }

    /// Enters the folder of a song.
    func enter(_ song: some Collection<UInt8>, _ writer: inout AnswerWriter) {
        start(&writer)
        let new = Self.folder(of: Array(song)[...])
        guard new != folder else { return }
        leave(&writer)
        show(new, &writer)
        folder = new
    }

    /// Ends the walk.
    func end(_ writer: inout AnswerWriter) {
        start(&writer)
        leave(&writer)
        for folder in playlists.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            show(folder, &writer)
            self.folder = folder
            leave(&writer)
        }
    }

    private func start(_ writer: inout AnswerWriter) {
        guard !hasBegun else { return }
        hasBegun = true
        show(begin, &writer)
        folder = begin
    }

    private func leave(_ writer: inout AnswerWriter) {
        for list in playlists.removeValue(forKey: folder) ?? [] { list.write(&writer, withTime: withTimes) }
    }

    /// Writes the lines of a folder and of its unwritten parents.
    private func show(_ folder: [UInt8], _ writer: inout AnswerWriter) {
        guard !folder.isEmpty, !known.contains(folder) else { return }
        if folder != begin { show(Self.folder(of: folder[...]), &writer) }
        known.insert(folder)
        writer.pair("directory", folder)
    }

    private static func folder(of name: ArraySlice<UInt8>) -> [UInt8] {
        name.lastIndex(of: slash).map { Array(name[..<$0]) } ?? []
    }
}
