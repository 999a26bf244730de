# Finds a record of 16-bit stereo in a WAV file of the same format, and counts the frames that are equal from there on. Status 1
# if less than five seconds are, or if another frame follows.
# usage: equal.pl FILE.wav RECORD
use strict;
local $/;
sub content { open my $file, "<:raw", $_[0] or die "$_[0]: $!\n"; return <$file> }
my ($source, $record) = map { content($_) } @ARGV;
$source = substr($source, index($source, "data") + 8);
for my $at (22050, 44100, 88200) {
    my $found = index($record, substr($source, 4 * $at, 4000));
    next if $found < 0;
    my $rest = substr($record, $found);
    my $wanted = substr($source, 4 * $at, length $rest);
    my $differs = ($rest ^ $wanted) =~ /[^\0]/ ? $-[0] >> 2 : length($rest) >> 2;
    print "$differs of ", length($rest) >> 2, " recorded frames equal those of the file from frame $at on\n";
    exit($differs < 5 * 44100 || $differs < length($rest) >> 2);
}
die "the record does not have the file, in ", length($record) >> 2, " frames\n";
