import ControlProtocol
import NowPlayingClient

/// Verbs of the library.
enum LibraryVerbs {
    /// Search, lists, and the library's own state.
    static let verbs = [
        Verb(
            name: "search", synopsis: "TEXT…",
            summary: "search the library for artists, albums, tracks, genres, folders and lists",
            details: """
                The hits have numbers. With --play, --add or --next it plays or adds the best hit, or the one that --hit
                names. Case and accents make no difference.
                """,
            options: [
                Selection.kind, Option("--limit", value: "NUMBER", "show at most NUMBER hits of each kind; default: 8"),
                Option("--play", "play the hit instead of the queue"),
                Option("--add", "add the hit at the end of the queue"),
                Option("--next", "add the hit directly after the current item"),
                Option("--hit", short: "-n", value: "NUMBER", "the hit with this number; default: 1"),
            ],
            examples: [
                ("search kind of blue", "show the hits"), ("search kind of blue --play", "play the best hit"),
                ("search blue --play -n 3", "play the third hit"), ("search blue --kind album", "albums alone"),
            ], arity: 1...Int.max, run: Searching.search),
        Verb(
            name: "find", synopsis: "[TAG TEXT]…", summary: "list the tracks of the library that match",
            details: """
                A text is a whole value without regard to case and accents; * stands for any text and ? for one
                character. An empty text finds tracks without the tag. Several tests must all hold.
                """,
            options: Selection.filters + Selection.order + [
                Option(
                    "--format", short: "-f", value: "FORMAT",
                    "print this for each track: {{artist}}, {{title}} and other fields of the library")
            ],
            examples: [
                ("find --artist 'miles*' --year 1955-1965", "tracks of these years"),
                ("find album \"Kind of Blue\"", "as mpc writes it"),
                ("find --genre jazz --sort -added --limit 20 -f '{{path}}'", "the newest"),
            ], arity: 0...Int.max, run: Tracks.find),
        Verb(
            name: "list", synopsis: "artists|albums|genres|composers|TAG [TAG TEXT]…",
            summary: "list the values of a tag in the library",
            details: "The options and pairs of a tag and its text choose the tracks whose values it lists.",
            options: Selection.filters + [
                Option("--limit", value: "NUMBER", "at most NUMBER of them"),
                Option(
                    "--format", short: "-f", value: "FORMAT",
                    "print this for each value: {{value}}, {{tracks}}, {{duration}}"),
            ],
            examples: [
                ("list artists", "all artists"), ("list albums --artist \"Miles Davis\"", "albums of one"),
                ("list genres -f '{{tracks}} {{value}}'", "with the number of tracks"),
            ], arity: 1...Int.max, run: Tracks.list),
        Verb(
            name: "browse", synopsis: "[FOLDER]", summary: "show a folder of the library",
            details: "FOLDER is a path as browse shows it, such as Music/Jazz, or a folder of the disk.",
            options: [
                Option("--format", short: "-f", value: "FORMAT", "print this for each: {{path}}, {{title}}, {{uri}}")
            ],
            examples: [("browse", "the folders of the library"), ("browse Music/Jazz", "the contents of this one")],
            arity: 0...1, run: Tracks.browse),
        Verb(
            name: "random", synopsis: "[tracks | albums] [NUMBER]",
            summary: "play random tracks or albums of the library",
            details: """
                They replace the queue, unless --add or --next adds them. The default is 50 tracks or 5 albums. With a
                mode of shuffle, such as on or off, it sets the play order as mpc does.
                """,
            options: Selection.filters + [
                Option("--add", "add them at the end of the queue"),
                Option("--next", "add them directly after the current item"),
                Option("--seed", value: "NUMBER", "the same number chooses the same tracks again"),
            ],
            examples: [
                ("random", "play 50 random tracks"), ("random albums 3 --genre jazz", "three albums"),
                ("random 20 --liked --not-played-since 1y", "20 tracks that you have not heard for long"),
            ], arity: 0...2, run: RandomTracks.run),
        Verb(
            name: "lists",
            synopsis: "[show LIST | save LIST [FILE…] | play LIST | add LIST | append LIST FILE… | "
                + "remove LIST NUMBER… | move LIST NUMBER TO | rename LIST NAME | delete LIST]",
            summary: "list the saved lists, or play, show and change one",
            details: """
                save keeps the queue, these files, or with options for tags a filter, whose tracks are found anew each
                time. add and play take the list into the queue. NUMBER is an index from 1, or a range such as 3-7.
                """,
            options: [
                Option("--queue", "save the queue: the default"),
                Option("--replace", "overwrite a list of this name"),
                Option("--next", "add the list directly after the current item"),
            ] + Selection.filters + [
                Option("--sort", value: "FIELDS", "order of a saved filter, such as artist,-date or random"),
                Option(
                    "--format", short: "-f", value: "FORMAT",
                    "print this for each list, {{name}}, or for each item: {{number}}, {{title}}"),
            ],
            examples: [
                ("lists", "all lists"), ("lists save evening", "save the queue"),
                ("lists save new --added-since 30d", "its contents change by themselves"),
                ("lists play evening", "play it"), ("lists append evening Music/Jazz/a.flac", "one more track"),
                ("lists remove evening 3-5", "three less"),
            ], arity: 0...Int.max, run: Lists.run),
        Verb(
            name: "library", synopsis: "[status | update [FOLDER] | loudness [pause|resume]]",
            summary: "show the library's state, or scan its folders now",
            details: """
                Shows the folders, how each is followed, and files that could not be read. In a terminal it shows a scan
                in progress until its end. The library finds changes by itself; update looks for them now. It measures
                the loudness of files without loudness tags; loudness shows how far it is, and pauses or resumes that.
                """,
            options: [Option("--wait", "return at the end of the scan and of the identification of new files")],
            examples: [
                ("library", "tracks, folders and faults"), ("library update --wait", "scan now, and wait for the end"),
                ("library update Music/Jazz", "this folder alone"),
                ("library loudness pause", "measure no loudness until library loudness resume"),
            ], arity: 0...2, run: LibraryState.show),
    ]

    /// Words of mpc for the library.
    static let foreign = [
        Verb(
            name: "update", synopsis: "[FOLDER]", summary: "same as library update",
            options: [Option("--wait", "return at the end of the scan and of the identification of new files")],
            examples: [("update --wait", "scan now, and wait for the end")], arity: 0...1, isForeign: true
        ) { (run) throws(Failure) in try LibraryState.update(run, run.words.first) },
        Verb(
            name: "stats", summary: "same as library", examples: [("stats", "tracks and folders")], isForeign: true,
            run: LibraryState.status),
        Verb(
            name: "ls", synopsis: "[FOLDER]", summary: "paths in a folder of the library",
            examples: [("ls Music", "one path a line")], arity: 0...1, isForeign: true, run: Tracks.ls),
        Verb(
            name: "listall", synopsis: "[FOLDER]", summary: "paths of all tracks below a folder of the library",
            examples: [("listall Music/Jazz", "one path a line")], arity: 0...1, isForeign: true, run: Tracks.listAll),
        Verb(
            name: "findadd", synopsis: "TAG TEXT…", summary: "add the tracks that find lists",
            examples: [("findadd album \"Kind of Blue\"", "an album")], arity: 2...Int.max, isForeign: true
        ) { (run) throws(Failure) in
            guard let selection = try Selection(run, pairs: run.words) else { return }
            try Adding.add(run, selection, JSONObject())
        },
        Verb(
            name: "searchadd", synopsis: "TAG TEXT…", summary: "add the tracks whose tags contain a text",
            examples: [("searchadd artist miles", "all of them")], arity: 2...Int.max, isForeign: true
        ) { (run) throws(Failure) in
            try Adding.add(run, try Selection(containing: run.words, run), JSONObject())
        },
        Verb(
            name: "lsplaylists", summary: "names of the lists", examples: [("lsplaylists", "one a line")],
            isForeign: true
        ) { (run) throws(Failure) in
            let result = try run.library("lists.list")
            if run.wantsJSON { return run.printJSON(result) }
            for list in result["lists"]?.arrayValue ?? [] { run.output.line(LibraryRow(list).text("name") ?? "") }
        },
        Verb(
            name: "save", synopsis: "LIST", summary: "same as lists save",
            examples: [("save evening", "save the queue")],
            arity: 1...1, isForeign: true
        ) { (run) throws(Failure) in try Lists.save(run, run.words) },
        Verb(
            name: "load", synopsis: "LIST", summary: "same as lists add",
            examples: [("load evening", "add it to the queue")], arity: 1...1, isForeign: true
        ) { (run) throws(Failure) in
            try Adding.add(run, Selection(list: run.words[0].text), JSONObject())
        },
        Verb(
            name: "rm", synopsis: "LIST", summary: "same as lists delete", examples: [("rm evening", "delete it")],
            arity: 1...1, isForeign: true, run: Lists.rm),
    ]
}
