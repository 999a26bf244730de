import Glibc
import MPDProtocol

@testable import MPDBridge

/// Costs of requests of MPD's clients. A request that takes too much processor time or memory is a finding.
extension FuzzTarget {
    /// Lines on one connection: a first byte for the rights, and then lists, filters and patterns, which meet songs with texts
    /// that make patterns slow.
    static let mpdSearch = FuzzTarget(
        name: "mpd-search",
        seeds: {
            [
                "kfind \"(Artist =~ '^(a+)+[bc]$')\"\nsearch \"((Title =~ '(?:.*.*)*[xy]') AND (!(any =~ 'a|b')))\"\n",
                "kcommand_list_ok_begin\nfind \"(any =~ '(?=(a*))*[xy]')\"\na\nb\ncommand_list_end\n",
                "ksearch artist \"Ä\" \"(Title !~ '((?:a*){5})(\\\\1)*[xy]')\"\ncount \"(file contains 'a')\"\n",
                "kplaylistfind \"(Genre =~ '(a?){0,90}(?<n>b)[^b]*[xy]')\"\n",
                "scommand_list_begin\na\na\npassword x\n",
            ].map { Array($0.utf8) }
        },
        run: { bytes in
            let limits: LineLimits = bytes.first == UInt8(ascii: "s") ? .stranger : .known
            var conversation = Conversation()
            var costs = SearchCosts()
            for line in bytes.dropFirst().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                let step = conversation.take(Array(line), limits)
                // The memory of an array grows by doubling.
                precondition(conversation.cost <= 2 * limits.list + 64, "a list takes too much memory")
                switch step {
                case .nothing, .endIdle: continue
                case .close, .refuse: conversation = Conversation()
                case .run(let work): for line in work.lines { costs.request(line) }
                }
            }
        })
}

/// The costs of the requests of one input.
private struct SearchCosts {
    /// Requests that may still meet the songs: otherwise an input of many slow ones would take minutes.
    private var left = 4

    /// Seconds of the budget of a query.
    private static let budget = 1
    /// Processor seconds of a query beyond the budget: of the last song, and of the compilation.
    private static let rest = 0.5
    /// KiB of memory of a query.
    private static let memory = 64 << 10

    private static let songs = [
        SlowSong(text: String(repeating: "a", count: 60)), SlowSong(text: String(repeating: "a", count: 16 << 10)),
        SlowSong(text: String(repeating: "Äb ", count: 2000)), SlowSong(text: "Kind of Blue"),
    ]

    /// Reads a line, and tests the songs if it has a filter.
    mutating func request(_ line: [UInt8]) {
        let everything: Permissions = [.read, .add, .player, .control, .admin]
        guard left > 0,
            let request = try? MPDRequest.read(line, allowed: everything, available: Set(MPDCommand.allCases))
        else { return }
        switch request.command {
        case .count, .find, .playlistfind, .playlistsearch, .search: break
        case _: return
        }
        let begin = Self.now
        let peak = FuzzCorpus.peak
        var arguments = request.arguments
        guard (try? QueryTail(&arguments, [.window, .sort, .groups])) != nil,
            let filter = try? SongFilter(arguments, folds: request.command == .search)
        else { return check(begin, peak) }
        left -= 1
        let tester = SongTester(filter, seconds: Self.budget)
        var rest = Self.songs[...]
        while !rest.isEmpty {
            let slice = tester.slice(rest) { $0 }
            guard slice.failure == nil else { break }
            precondition(slice.count > 0, "a slice has no song")
            rest = rest.dropFirst(slice.count)
        }
        check(begin, peak)
    }

    private func check(_ begin: Double, _ peak: Int) {
        precondition(Self.now - begin < Double(Self.budget) + Self.rest, "a query takes too much time")
        precondition(FuzzCorpus.peak - peak < Self.memory, "a query takes too much memory")
    }

    /// Processor seconds of this thread.
    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// A song whose tags all have one text.
private struct SlowSong: FilteredSong {
    let text: String

    func values(_ tag: MPDTag) -> [String] { [text] }
    var file: String { text }
    let modified: Int64? = 1_700_000_000
    let added: Int64? = nil
    let sampleRate: Int? = 44_100
    let bits: FormatTest.SampleBits? = .whole(16)
    let channels: Int? = 2
    let priority = 0
}
