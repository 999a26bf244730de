// nowplaying-decode PROFILE PARENT: decodes one source for nowplayingd, which starts it. Nobody else has use for it.
run(CommandLine.arguments)
