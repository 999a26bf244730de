// nowplaying-decode PROFILE PARENT: decodes one source for nowplayingd, which starts it. It has no other use.
run(CommandLine.arguments)
