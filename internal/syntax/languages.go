package syntax

import (
	"strings"
	"sync"
)

// registry finds languages. It is made when the first file is coloured: most
// processes that link this package never colour one.
type registry struct {
	byName, byExtension, byProgram map[string]*Language
}

var tables = sync.OnceValue(func() *registry {
	r := &registry{make(map[string]*Language), make(map[string]*Language), make(map[string]*Language)}
	for _, family := range [][]entry{braces(), scripts(), data(), documents(), others()} {
		for _, e := range family {
			for ext := range strings.FieldsSeq(e.extensions) {
				r.byExtension[ext] = e.lang
			}
			for name := range strings.FieldsSeq(e.names) {
				r.byName[name] = e.lang
			}
			for program := range strings.FieldsSeq(e.programs) {
				r.byProgram[program] = e.lang
			}
		}
	}
	return r
})

// entry is a language and where it is met. All lists are separated by blanks.
type entry struct {
	lang       *Language
	extensions string
	names      string // whole file names, in lower case
	programs   string // in a #! line, without version
}

// code is the usual programming language.
func code(name, keywords, types string, spans ...span) *Language {
	return &Language{Name: name, words: words(keywords, types), spans: spans, calls: true, types: true}
}

func braces() []entry {
	cSpans := []span{slashes, stars, double, char}
	const cWords = "auto break case const continue default do else enum extern for goto if inline register restrict return sizeof static struct switch typedef union volatile while NULL true false nullptr " +
		"alignas alignof asm catch class concept consteval constexpr constinit const_cast co_await co_return co_yield decltype delete dynamic_cast explicit export final friend import module mutable namespace new " +
		"noexcept operator override private protected public reinterpret_cast requires static_assert static_cast template this thread_local throw try typeid typename using virtual"
	const cTypes = "bool char double float int long short signed unsigned void size_t ssize_t wchar_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t"
	const jsWords = "as async await break case catch class const continue debugger default delete do else export extends finally for from function get if import in instanceof let new of return set static super " +
		"switch this throw try typeof var void while with yield true false null undefined NaN Infinity " +
		"abstract declare enum implements interface is keyof namespace private protected public readonly satisfies type"
	return []entry{
		{lang: code("Go", "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota",
			"any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr",
			slashes, stars, double, backtick.raw(), char), extensions: "go", names: "go.mod go.work"},
		{lang: code("C, C++", cWords, cTypes, append(cSpans, directive)...), extensions: "c h cc cpp cxx hh hpp hxx m mm ino cu"},
		{lang: code("Java", "abstract assert break case catch class const continue default do else enum extends final finally for goto if implements import instanceof interface native new non-sealed package permits private protected public record return "+
			"sealed static strictfp super switch synchronized this throw throws transient try var volatile while yield true false null",
			"boolean byte char double float int long short void", append([]span{threeDouble}, cSpans...)...), extensions: "java"},
		{lang: code("Kotlin", "as break by catch class companion const constructor continue crossinline data do else enum external false final finally for fun get if import in infix init inline inner interface internal is lateinit "+
			"null object open operator out override package private protected public reified return sealed set super suspend tailrec this throw true try typealias val var vararg when where while", "",
			append([]span{threeDouble}, cSpans...)...), extensions: "kt kts"},
		{lang: code("Scala", "abstract case catch class def do else enum extends extension false final finally for forSome given if implicit import lazy match new null object override package private protected return sealed super then this throw "+
			"trait true try type using val var while with yield", "", append([]span{threeDouble}, cSpans...)...), extensions: "scala sc sbt"},
		{lang: code("C#", "abstract as async await base break case catch checked class const continue default delegate do else enum event explicit extern false finally fixed for foreach get goto if implicit in init interface internal is lock namespace "+
			"new null operator out override params partial private protected public readonly record ref return sealed set sizeof stackalloc static struct switch this throw true try typeof unchecked unsafe using var virtual volatile when where while yield",
			"bool byte char decimal double dynamic float int long object sbyte short string uint ulong ushort void", append([]span{threeDouble, directive}, cSpans...)...), extensions: "cs"},
		{lang: code("JavaScript, TypeScript", jsWords, "any bigint boolean never number object string symbol unknown",
			slashes, stars, double, single, backtick, pattern), extensions: "js jsx mjs cjs ts tsx mts cts", programs: "node deno bun ts-node"},
		{lang: code("Rust", "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type union unsafe use where while",
			"bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize", slashes, stars, double.overLines(), char), extensions: "rs"},
		{lang: code("Swift", "actor as associatedtype async await break case catch class continue default defer deinit do else enum extension fallthrough false fileprivate final for func guard if import in indirect init inout internal is lazy let "+
			"mutating nil open operator override private protocol public repeat required rethrows return self Self some static struct subscript super switch throw throws true try typealias var weak where while", "", threeDouble, slashes, stars, double), extensions: "swift"},
		{lang: code("Dart", "abstract as assert async await break case catch class const continue covariant default deferred do dynamic else enum export extends extension external factory false final finally for get if implements import in interface is "+
			"late library mixin new null on operator part required rethrow return set static super switch sync this throw true try typedef var void while with yield", "bool double int num", threeDouble, threeSingle, slashes, stars, double, single), extensions: "dart"},
		{lang: code("Zig", "align allowzero and anyframe anytype asm async await break callconv catch comptime const continue defer else enum errdefer error export extern fn for if inline noalias nosuspend opaque or orelse packed pub resume return struct "+
			"suspend switch test threadlocal try union unreachable usingnamespace var volatile while true false null undefined", "bool f16 f32 f64 i8 i16 i32 i64 isize u8 u16 u32 u64 usize void type", slashes, double, char), extensions: "zig"},
		{lang: code("PHP", "abstract and array as break callable case catch class clone const continue declare default do echo else elseif empty enum extends final finally fn for foreach function global goto if implements include include_once instanceof "+
			"insteadof interface isset list match namespace new or print private protected public readonly require require_once return static switch throw trait try unset use var while xor yield true false null",
			"bool float int iterable mixed object string void", slashes, stars, hash, double.overLines(), single.overLines()), extensions: "php", programs: "php"},
		{lang: code("Protocol Buffers", "enum extend extensions import map message oneof option optional package public repeated required reserved returns rpc service stream syntax to weak true false",
			"bool bytes double fixed32 fixed64 float int32 int64 sfixed32 sfixed64 sint32 sint64 string uint32 uint64", slashes, stars, double, single), extensions: "proto"},
	}
}

func scripts() []entry {
	shell := &Language{Name: "Shell", calls: true, spans: []span{hash, double.overLines(), single.raw().overLines(), quoted("`")}, words: words(
		"alias break case cd continue declare do done echo elif else esac eval exec exit export fi for function if in local printf read readonly return select set shift source test then time trap true false type unset until wait while", "")}
	lua := code("Lua", "and break do else elseif end false for function goto if in local nil not or repeat return then true until while", "",
		blockComment("--[[", "]]"), lineComment("--"), span{
			open: []byte("[["), close: []byte("]]"), kind: String, multi: true,
		}, double, single)
	lua.types = false
	return []entry{
		{lang: code("Python", "and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield True False None self cls",
			"bool bytes dict float frozenset int list object set str tuple", threeDouble, threeSingle, hashAnywhere(), double, single),
			extensions: "py pyi pyw bzl star", names: "sconstruct wscript build workspace", programs: "python pypy uv"},
		{
			lang: shell, extensions: "sh bash zsh ksh fish bats env",
			names:    ".bashrc .zshrc .profile .bash_profile .envrc .env",
			programs: "sh bash zsh ksh dash fish bats",
		},
		{lang: code("Ruby", "alias and begin break case class def defined? do else elsif end ensure false for if in module next nil not or private protected public raise redo require require_relative rescue retry return self super then true undef unless until when while yield attr_accessor attr_reader attr_writer", "",
			blockComment("=begin", "=end"), hash, double.overLines(), single.overLines(), quoted("`"), pattern), extensions: "rb rake gemspec ru", names: "rakefile gemfile vagrantfile", programs: "ruby"},
		{lang: code("Perl", "and cmp do else elsif eq foreach for ge given gt if last le local lt my ne next no not or our package print redo require return say state sub undef unless until use when while x xor", "",
			blockComment("=pod", "=cut"), hash, double, single, pattern), extensions: "pl pm t", programs: "perl"},
		{lang: lua, extensions: "lua", programs: "lua luajit"},
		{
			lang:       code("R", "break else for function if in next repeat return while TRUE FALSE NULL NA NaN Inf library require", "", hashAnywhere(), double, single),
			extensions: "r", programs: "Rscript",
		},
		{lang: code("Julia", "abstract baremodule begin break catch const continue do else elseif end export false finally for function global if import in let local macro module mutable nothing primitive quote return struct true try using where while", "",
			threeDouble, blockComment("#=", "=#"), hashAnywhere(), double, char), extensions: "jl", programs: "julia"},
		{lang: code("Elixir", "after alias and case catch cond def defimpl defmacro defmodule defp defprotocol defstruct do else end false fn for if import in nil not or quote raise receive require rescue true try unless unquote use when with", "",
			threeDouble, hash, double, single), extensions: "ex exs", programs: "elixir"},
		{lang: &Language{Name: "SQL", foldCase: true, calls: true, spans: []span{lineComment("--"), stars, single.raw().overLines(), double}, words: words(
			"add all alter and any as asc begin between by cascade case cast check column commit constraint create cross database default delete desc distinct drop else end except exists explain false foreign from full function grant group having if ilike in "+
				"index inner insert intersect into is join key left like limit not null offset on or order outer over partition primary procedure references replace returning revoke right rollback schema select set table then transaction trigger true truncate union unique "+
				"update using values view when where with",
			"bigint blob boolean bytea char date decimal double float int integer json jsonb numeric real serial smallint text time timestamp timestamptz uuid varchar")}, extensions: "sql psql ddl"},
		{lang: &Language{Name: "PowerShell", foldCase: true, calls: true, types: true, spans: []span{blockComment("<#", "#>"), hash, double, single.raw()}, words: words(
			"begin break catch class continue data do else elseif end enum exit filter finally for foreach function if in param process return switch throw trap try until using while", "")}, extensions: "ps1 psm1 psd1", programs: "pwsh"},
	}
}

func data() []entry {
	constants := words("true false null yes no on off nil none True False None", "")
	return []entry{
		{
			lang:       &Language{Name: "JSON", keyMark: ':', words: constants, spans: []span{slashes, stars, double}},
			extensions: "json jsonc json5 jsonl ndjson webmanifest ipynb har map",
			names:      ".prettierrc .eslintrc .babelrc",
		},
		{
			lang: &Language{
				Name: "YAML", keyMark: ':', words: constants, wordBytes: []byte("-./"),
				spans: []span{hash, double, single.raw()},
				lines: []wholeLine{{"---", Keyword}, {"...", Keyword}},
			},
			extensions: "yaml yml", names: ".clang-format",
		},
		{
			lang: &Language{
				Name: "TOML", keyMark: '=', words: constants, wordBytes: []byte("-."),
				spans: []span{hash, threeDouble, threeSingle, double, single.raw()},
				lines: []wholeLine{{"[", Type}},
			},
			extensions: "toml", names: "cargo.lock poetry.lock",
		},
		{lang: &Language{
			Name: "INI", keyMark: '=', words: constants, wordBytes: []byte("-."),
			spans: []span{hash, {open: []byte(";"), kind: Comment, atStart: true}, double},
			lines: []wholeLine{{"[", Type}},
		},
			extensions: "ini cfg conf properties editorconfig desktop service timer", names: ".gitconfig .npmrc .editorconfig"},
		{lang: &Language{
			Name: "Terraform", keyMark: '=', calls: true,
			words:     words("data for if in locals module output provider resource terraform variable true false null", "bool list map number string any"),
			wordBytes: []byte("-"), spans: []span{hash, slashes, stars, double},
		},
			extensions: "tf tfvars hcl nomad"},
		{lang: &Language{
			Name: "GraphQL", keyMark: ':', types: true,
			words: words("directive enum extend fragment implements input interface mutation on query scalar schema subscription type union true false null", ""),
			spans: []span{threeDouble, hashAnywhere(), double},
		}, extensions: "graphql gql"},
	}
}

func documents() []entry {
	tag := func(s span) span { s.inTag = true; return s.overLines() }
	css := &Language{Name: "CSS", keyMark: ':', calls: true, wordBytes: []byte("-@$"), spans: []span{stars, double, single},
		words: words("@media @import @font-face @keyframes @supports @layer @container @property @use @forward @mixin @include @extend @function @return @if @else @each @for !important", "")}
	scss := *css
	scss.Name, scss.spans = "SCSS, Less", append([]span{slashes}, css.spans...)
	heading := func(n int) wholeLine { return wholeLine{strings.Repeat("#", n) + " ", Keyword} }
	return []entry{
		{lang: &Language{
			Name: "HTML, XML", markup: true,
			spans: []span{blockComment("<!--", "-->"), {
				open: []byte("<![CDATA["), close: []byte("]]>"), kind: String, multi: true,
			}, tag(double.raw()), tag(single.raw())},
		},
			extensions: "html htm xhtml xml svg vue svelte astro xsd xsl xslt plist csproj fsproj props targets gotmpl tmpl rss atom ui"},
		{lang: css, extensions: "css"},
		{lang: &scss, extensions: "scss sass less"},
		{lang: &Language{Name: "Markdown", spans: []span{{
			open: []byte("```"), close: []byte("```"), kind: String, multi: true,
		}, {open: []byte("~~~"), close: []byte("~~~"), kind: String, multi: true}, blockComment("<!--", "-->"), quoted("`").raw()},
			lines: []wholeLine{heading(1), heading(2), heading(3), heading(4), heading(5), heading(6), {"> ", Comment}}}, extensions: "md markdown mdx mkd rmd qmd"},
		{lang: &Language{Name: "Diff", lines: []wholeLine{{"+++", Keyword}, {"---", Keyword}, {"@@", Type}, {"diff ", Keyword}, {"index ", Comment}, {"+", String}, {"-", Number}}}, extensions: "diff patch"},
	}
}

func others() []entry {
	lisp := &Language{Name: "Lisp", wordBytes: []byte("-?!*+/<>=:"), spans: []span{lineComment(";"), blockComment("#|", "|#"), double.overLines()}, words: words(
		"and begin case cond def define defmacro defmethod defn defparameter defprotocol defrecord defstruct defun defvar do else fn for if import lambda let let* letrec loop nil ns or progn quote recur require set! setf setq t true false unless use when", "")}
	haskell := code("Haskell", "as case class data default deriving do else forall foreign hiding if import in infix infixl infixr instance let module newtype of qualified then type where", "", blockComment("{-", "-}"), lineComment("--"), double, char)
	ocaml := code("OCaml, F#", "and as assert begin class constraint do done downto else end exception external false for fun function functor if in include inherit initializer lazy let match method module mutable new object of open or private rec sig struct then to true try type val virtual when while with",
		"", blockComment("(*", "*)"), slashes, double.overLines(), char)
	makefile := &Language{
		Name: "Makefile", keyMark: ':', wordBytes: []byte("-./%$()"),
		spans: []span{hash, double, single.raw()},
		words: words("define else endef endif export if ifdef ifeq ifndef ifneq include override private unexport vpath", ""),
	}
	docker := &Language{
		Name: "Dockerfile", spans: []span{hash, double, single},
		words: words("ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL STOPSIGNAL USER VOLUME WORKDIR", ""),
	}
	nix := &Language{
		Name: "Nix", keyMark: '=', wordBytes: []byte("-'."),
		spans: []span{hashAnywhere(), stars, double.overLines(), {open: []byte("''"), close: []byte("''"), kind: String, multi: true}},
		words: words("assert else if import in inherit let or rec then with true false null", ""),
	}
	cmake := &Language{
		Name: "CMake", foldCase: true, calls: true, spans: []span{hashAnywhere(), double.overLines()},
		words: words("if else elseif endif foreach endforeach function endfunction macro endmacro while endwhile return include set", ""),
	}
	erlang := code("Erlang", "after and andalso band begin bnot bor bsl bsr bxor case catch cond div end fun if let not of or orelse receive rem try when xor", "", lineComment("%"), double, single)
	tex := &Language{
		Name: "TeX", wordBytes: []byte{'\\'}, spans: []span{lineComment("%")},
		words: words(`\begin \end \section \subsection \chapter \usepackage \documentclass \newcommand \label \ref \cite`, ""),
	}
	return []entry{
		{lang: lisp, extensions: "lisp lsp cl el scm ss rkt clj cljs cljc edn"},
		{lang: haskell, extensions: "hs lhs elm purs"},
		{lang: ocaml, extensions: "ml mli fs fsi fsx"},
		{lang: makefile, extensions: "mk mak", names: "makefile gnumakefile"},
		{lang: docker, extensions: "dockerfile", names: "dockerfile containerfile"},
		{lang: nix, extensions: "nix"},
		{lang: cmake, extensions: "cmake", names: "cmakelists.txt"},
		{lang: erlang, extensions: "erl hrl"},
		{lang: tex, extensions: "tex sty cls bib"},
		{lang: &Language{Name: "Ignore file", spans: []span{{open: []byte("#"), kind: Comment, atStart: true}}}, names: ".gitignore .dockerignore .npmignore .eslintignore codeowners"},
	}
}

// hashAnywhere is a comment that needs no blank before it.
func hashAnywhere() span { return lineComment("#") }
