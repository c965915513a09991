<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ja_JP" sourcelanguage="en">
<context>
    <name></name>
    <message>
        <location filename="../../desktop/sotto/ui/app/shell.py" line="+164"/>
        <location filename="../../desktop/sotto/ui/app/uncaught.py" line="+126"/>
        <source>Sotto closed unexpectedly</source>
        <translation>Sottoが予期せず終了しました</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Running the engine separately keeps a crash from closing the app. Takes effect after restart.</source>
        <translation>エンジンを分離して実行すると、クラッシュしてもSottoは終了しません。再起動後に有効になります。</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/app/update_notices.py" line="+67"/>
        <source>Turn on</source>
        <translation>有効にする</translation>
    </message>
    <message>
        <location line="+147"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="+50"/>
        <source>Quick prompt shortcut</source>
        <translation>クイックプロンプトのショートカット</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Sotto keeps running when its window is closed</source>
        <translation>ウィンドウを閉じてもSottoは動作し続けます</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>You can open or quit it from this menu.</source>
        <translation>このメニューから開いたり終了したりできます。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>You can open or quit it from the tray, or quit with Ctrl+Q.</source>
        <translation>トレイから開いたり終了したりできます。Ctrl+Qでも終了できます。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/tray.py" line="+65"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="+136"/>
        <source>No model</source>
        <translation>モデルなし</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+212"/>
        <source>not loaded</source>
        <translation>未ロード</translation>
    </message>
    <message>
        <location line="-5"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+0"/>
        <source>loading</source>
        <translation>ロード中</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>ready</source>
        <translation>準備完了</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>answering</source>
        <translation>回答中</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+0"/>
        <source>ejecting</source>
        <translation>アンロード中</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>could not be loaded</source>
        <translation>ロード失敗</translation>
    </message>
    <message>
        <location line="+30"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+68"/>
        <source>Eject Model</source>
        <translation>モデルをアンロード</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-23"/>
        <source>Quick Prompt</source>
        <translation>クイックプロンプト</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="-19"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-1"/>
        <source>New Chat</source>
        <translation>新規チャット</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+148"/>
        <source>Open Sotto</source>
        <translation>Sottoを開く</translation>
    </message>
    <message>
        <location line="-146"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="+3"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+31"/>
        <source>Quit Sotto</source>
        <translation>Sottoを終了</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/chat_settings_panel.py" line="+37"/>
        <source>Instructions that the model gets before your messages</source>
        <translation>メッセージの前にモデルに与える指示</translation>
    </message>
    <message>
        <location line="+18"/>
        <location filename="../../desktop/sotto/ui/window/chat_header.py" line="+37"/>
        <source>Chat settings</source>
        <translation>チャットの設定</translation>
    </message>
    <message>
        <location line="+6"/>
        <location line="+23"/>
        <location filename="../../desktop/sotto/ui/models/customizing/recipe_form.py" line="+59"/>
        <location line="+45"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+63"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="+122"/>
        <source>System prompt</source>
        <translation>システムプロンプト</translation>
    </message>
    <message>
        <location line="-8"/>
        <source>Reset to defaults</source>
        <translation>デフォルトに戻す</translation>
    </message>
    <message>
        <location line="+11"/>
        <location filename="../../desktop/sotto/ui/composer/thinking_button.py" line="+37"/>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="+172"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+6"/>
        <source>Thinking</source>
        <translation>思考</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/composer/format_field.py" line="+59"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="-33"/>
        <source>Answers</source>
        <translation>回答</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>Close chat settings</source>
        <translation>チャットの設定を閉じる</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>This chat</source>
        <translation>このチャット</translation>
    </message>
    <message>
        <location line="+58"/>
        <source>Fewer options</source>
        <translation>詳細オプションを隠す</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>More options</source>
        <translation>詳細オプション</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/composer.py" line="+63"/>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="+94"/>
        <source>Attach files</source>
        <translation>ファイルを添付</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Attach text files, PDFs or images</source>
        <translation>テキストファイル、PDF、画像を添付</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Take a screenshot</source>
        <translation>スクリーンショットを撮る</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Attach a picture of a part of the screen</source>
        <translation>画面の一部の画像を添付</translation>
    </message>
    <message>
        <location line="+8"/>
        <location line="+45"/>
        <source>Send message</source>
        <translation>メッセージを送信</translation>
    </message>
    <message>
        <location line="-25"/>
        <source>Write a message</source>
        <translation>メッセージを入力</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Shift+Enter for a new line</source>
        <translation>Shift+Enterで改行</translation>
    </message>
    <message>
        <location line="+21"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="-100"/>
        <source>Stop loading</source>
        <translation>ロードを停止</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Stop answering</source>
        <translation>回答を停止</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Stop (Esc)</source>
        <translation>停止（Esc）</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Send (Enter)</source>
        <translation>送信（Enter）</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/session/session.py" line="+148"/>
        <source>This model cannot chat</source>
        <translation>このモデルはチャットできません</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Sends after this answer</source>
        <translation>この回答の後に送信します</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sends as soon as the model is loaded</source>
        <translation>モデルがロードされ次第送信します</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/attaching.py" line="+146"/>
        <source>Not attached</source>
        <translation>添付されませんでした</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/context_actions.py" line="+82"/>
        <source>Drop oldest messages</source>
        <translation>古いメッセージを除外</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Continue in a new chat with a summary</source>
        <translation>要約して新規チャットで続ける</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Only the beginning of {name}</source>
        <translation>「{name}」の先頭のみ</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Only the end of {name}</source>
        <translation>「{name}」の末尾のみ</translation>
    </message>
    <message>
        <location line="+20"/>
        <source>Make {name} smaller ({tokens} tokens instead of {before})</source>
        <translation>{name}を縮小（{before}トークンから{tokens}トークンへ）</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Raise the context to {tokens} (memory need unknown)</source>
        <translation>コンテキストを{tokens}に拡大（必要メモリは不明）</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Raise the context to {tokens} (up to {size} more memory)</source>
        <translation>コンテキストを{tokens}に拡大（メモリを最大{size}追加）</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/context_gauge.py" line="+58"/>
        <source>The oldest messages are dropped; with them it would be {tokens}.</source>
        <translation>古いメッセージは除外されます。含めると{tokens}トークンになります。</translation>
    </message>
    <message>
        <location line="+44"/>
        <source>Context: {used} of {limit} tokens, {share} %.</source>
        <translation>コンテキスト：{used} / {limit}トークン、{share}%。</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Context: {used} of {limit} tokens, all.</source>
        <translation>コンテキスト：{used} / {limit}トークン、すべて使用中。</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>{used} of {limit} tokens, even without the oldest messages.</source>
        <translation>古いメッセージを除いても、{limit}トークンの上限に対して{used}トークンあります。</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+2"/>
        <source>Too long</source>
        <translation>長すぎます</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{used} of {limit} tokens.</source>
        <translation>{limit}トークンの上限に対して{used}トークンあります。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{left} of {limit} tokens are left for the answer.</source>
        <translation>回答に使えるのは{limit}トークン中、残り{left}トークンです。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Context nearly full</source>
        <translation>コンテキストの残りがわずかです</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/drop_overlay.py" line="+77"/>
        <source>Drop to import chats</source>
        <translation>ドロップしてチャットをインポート</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Not a file on this computer</source>
        <translation>このコンピューター上のファイルではありません</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Download the model first, then drop its folder here.</source>
        <translation>先にモデルをダウンロードしてから、そのフォルダーをここにドロップしてください。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Drop to load the model in this folder</source>
        <translation>ドロップしてこのフォルダーのモデルをロード</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Drop to load the model with these weights</source>
        <translation>ドロップしてこの重みのモデルをロード</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name}, in the folder {folder}</source>
        <translation>{name}（フォルダー：{folder}）</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Drop to load this model</source>
        <translation>ドロップしてこのモデルをロード</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>{name} — and {count} more, which will not be loaded</source>
        <translation>
            <numerusform>{name}（ほか{count}件はロードされません）</numerusform>
        </translation>
    </message>
    <message>
        <location line="+56"/>
        <source>Drop to attach this image to your message</source>
        <translation>ドロップしてメッセージにこの画像を添付</translation>
    </message>
    <message numerus="yes">
        <location line="-48"/>
        <source>Drop to load a model and attach this file|Drop to load a model and attach {count} files</source>
        <translation>
            <numerusform>ドロップしてモデルをロードし、{count}個のファイルを添付</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>Drop to attach this file to your message|Drop to attach {count} files to your message</source>
        <translation>
            <numerusform>ドロップしてメッセージに{count}個のファイルを添付</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+7"/>
        <source>{names} — and {count} more</source>
        <translation>
            <numerusform>{names}、ほか{count}件</numerusform>
        </translation>
    </message>
    <message>
        <location line="+34"/>
        <source>Drop to import this model</source>
        <translation>ドロップしてこのモデルをインポート</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/format_field.py" line="-23"/>
        <source>Answers stay text until you enter one.</source>
        <translation>スキーマを入力するまで、回答はテキストのままです。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The previous choice still applies.</source>
        <translation>以前の選択が引き続き適用されます。</translation>
    </message>
    <message>
        <location line="+22"/>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-3"/>
        <source>Text</source>
        <translation>テキスト</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Schema</source>
        <translation>スキーマ</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Answer schema</source>
        <translation>回答のスキーマ</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Type or paste a JSON schema, or choose a file</source>
        <translation>JSONスキーマを入力または貼り付けるか、ファイルを選択</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Choose a File…</source>
        <translation>ファイルを選択…</translation>
    </message>
    <message>
        <location line="+90"/>
        <source>Choose a schema</source>
        <translation>スキーマの選択</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Schemas</source>
        <translation>スキーマ</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/preset_bar.py" line="+46"/>
        <source>Preset name</source>
        <translation>プリセット名</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/downloads.py" line="+190"/>
        <location filename="../../desktop/sotto/ui/models/keeping/model_keeper.py" line="+185"/>
        <location filename="../../desktop/sotto/ui/models/model_trash.py" line="+90"/>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="+408"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+8"/>
        <source>Undo</source>
        <translation>元に戻す</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Undo: restore the preset</source>
        <translation>元に戻す：プリセットを復元</translation>
    </message>
    <message>
        <location line="+45"/>
        <location line="+23"/>
        <source>None</source>
        <comment>preset</comment>
        <translation>なし</translation>
    </message>
    <message>
        <location line="-17"/>
        <source>Save Changes to “{name}”</source>
        <translation>「{name}」に変更を保存</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Save as Preset…</source>
        <translation>プリセットとして保存…</translation>
    </message>
    <message>
        <location line="+4"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+354"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="+307"/>
        <location line="+24"/>
        <source>Rename…</source>
        <translation>名前を変更…</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/settings/data_page.py" line="+21"/>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="+55"/>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="+14"/>
        <source>Delete</source>
        <translation>削除</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Preset: {name}</source>
        <translation>プリセット：{name}</translation>
    </message>
    <message>
        <location line="+25"/>
        <source>“{name}” was deleted; this chat keeps its settings.</source>
        <translation>「{name}」を削除しました。このチャットの設定はそのままです。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/thinking_button.py" line="-20"/>
        <source>Think: on</source>
        <translation>思考：オン</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: off</source>
        <translation>思考：オフ</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: low</source>
        <translation>思考：低</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: medium</source>
        <translation>思考：中</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: high</source>
        <translation>思考：高</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: max</source>
        <translation>思考：最大</translation>
    </message>
    <message>
        <location line="+45"/>
        <source>No thinking mode</source>
        <translation>思考モードなし</translation>
    </message>
    <message>
        <location line="+21"/>
        <location line="+11"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+45"/>
        <location line="+16"/>
        <source>Default</source>
        <translation>デフォルト</translation>
    </message>
    <message>
        <location line="-9"/>
        <source>From Settings: {choice}</source>
        <translation>設定の値：{choice}</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Think</source>
        <translation>思考</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Thinking: {choice}</source>
        <translation>思考：{choice}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/answer_announcer.py" line="+65"/>
        <source>{model} answers</source>
        <translation>{model}の回答</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>The answer continues</source>
        <translation>回答の続き</translation>
    </message>
    <message>
        <location line="+32"/>
        <location filename="../../desktop/sotto/ui/toolkit/announcements.py" line="+22"/>
        <source>(code)</source>
        <translation>（コード）</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>There is no answer; your message is back in the composer.</source>
        <translation>回答はありません。メッセージは入力欄に戻りました。</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>The answer is complete.</source>
        <translation>回答が完了しました。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The answer was stopped.</source>
        <translation>回答を停止しました。</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>The answer was interrupted.</source>
        <translation>回答が中断されました。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/answer_wording.py" line="+13"/>
        <source>Started to call a tool</source>
        <translation>ツールの呼び出しを開始</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>finished</source>
        <translation>完了</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>reached the length limit</source>
        <translation>長さの上限に到達</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>stopped because it repeated itself</source>
        <translation>繰り返しのため停止</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>stopped</source>
        <translation>停止</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Reading prompt {done} / {total}</source>
        <translation>プロンプトを読み取り中 {done} / {total}</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+28"/>
        <source>Answering</source>
        <translation>回答中</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Thought</source>
        <translation>思考</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Thought for {duration}</source>
        <translation>思考時間：{duration}</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>Wants to use {tool}</source>
        <translation>ツール「{tool}」の使用を要求</translation>
    </message>
    <message>
        <location line="+20"/>
        <source>Edited</source>
        <translation>編集済み</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Interrupted: Sotto closed unexpectedly</source>
        <translation>中断：Sottoが予期せず終了</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Interrupted</source>
        <translation>中断</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+41"/>
        <source>Stopped before the answer started</source>
        <translation>回答の開始前に停止</translation>
    </message>
    <message>
        <location line="-39"/>
        <source>Stopped</source>
        <translation>停止</translation>
    </message>
    <message numerus="yes">
        <location line="+42"/>
        <source>1 older token dropped|{count} older tokens dropped</source>
        <translation>
            <numerusform>古い{count}トークンを除外</numerusform>
        </translation>
    </message>
    <message>
        <location line="+4"/>
        <source>first after {duration}</source>
        <translation>開始まで{duration}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>prompt {tokens}</source>
        <translation>プロンプト {tokens}</translation>
    </message>
    <message>
        <location line="+23"/>
        <source>{count} cached</source>
        <translation>キャッシュ済み {count}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>only {count} cached: {reason}</source>
        <translation>キャッシュ済みは{count}のみ：{reason}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>none cached: {reason}</source>
        <translation>キャッシュなし：{reason}</translation>
    </message>
    <message numerus="yes">
        <location line="-13"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+339"/>
        <location filename="../../desktop/sotto/ui/transcript/attachment_chips.py" line="+275"/>
        <location filename="../../desktop/sotto/ui/window/request_list.py" line="+141"/>
        <source>1 token|{count} tokens</source>
        <translation>
            <numerusform>{count}トークン</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/composer/attaching.py" line="-44"/>
        <source>A message can have at most {count} files: attach fewer, or combine them.</source>
        <translation>
            <numerusform>1つのメッセージに添付できるファイルは{count}個までです。数を減らすか、1つにまとめてください。</numerusform>
        </translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Not everything was attached</source>
        <translation>一部が添付されませんでした</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>{file} is already attached to this message.</source>
        <translation>{file} はこのメッセージにすでに添付されています。</translation>
    </message>
    <message numerus="yes">
        <location line="+24"/>
        <source>{count} files were not attached</source>
        <translation>
            <numerusform>{count}個のファイルが添付されませんでした</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/chat_library.py" line="+175"/>
        <source>New folder</source>
        <translation>新規フォルダー</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/conversation/chat_loading.py" line="+41"/>
        <source>1 message of this chat can no longer be read; everything else is here.|{count} messages of this chat can no longer be read; everything else is here.</source>
        <translation>
            <numerusform>このチャットの{count}件のメッセージを読み取れなくなっています。それ以外はすべて残っています。</numerusform>
        </translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Not everything could be read</source>
        <translation>一部を読み取れませんでした</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/chat_session.py" line="+168"/>
        <source>Waiting for the model…</source>
        <translation>モデルを待機中…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Reading prompt…</source>
        <translation>プロンプトを読み取り中…</translation>
    </message>
    <message>
        <location line="+162"/>
        <source>No answer</source>
        <translation>回答なし</translation>
    </message>
    <message>
        <location line="+151"/>
        <source>No summary</source>
        <translation>要約なし</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/chat_thread.py" line="+173"/>
        <source>{file} could not be read or written: {reason}.</source>
        <translation>「{file}」を読み書きできませんでした（{reason}）。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/prefix_reuse.py" line="+43"/>
        <source>this model has not seen it yet</source>
        <translation>このモデルでは初回</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>the setting for thinking was changed</source>
        <translation>思考の設定を変更</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>the oldest messages were dropped</source>
        <translation>古いメッセージを除外</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>its cache was evicted</source>
        <translation>キャッシュを破棄済み</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>the system prompt was changed</source>
        <translation>システムプロンプトを変更</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>an earlier message was changed</source>
        <translation>以前のメッセージを変更</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/row_ids.py" line="+58"/>
        <source>The message before this one could not be saved, so this one is not saved either.</source>
        <translation>前のメッセージを保存できなかったため、このメッセージも保存されていません。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/summary.py" line="+78"/>
        <source>The model wrote nothing.</source>
        <translation>モデルは何も生成しませんでした。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/markdown/code_header.py" line="+33"/>
        <source>Code in {language}</source>
        <translation>{language}のコード</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+1"/>
        <source>Code</source>
        <translation>コード</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Wrap lines</source>
        <translation>行を折り返す</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Wrap long lines</source>
        <translation>長い行を折り返す</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Copy code</source>
        <translation>コードをコピー</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="+51"/>
        <location filename="../../desktop/sotto/ui/transcript/message_widget.py" line="+41"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+3"/>
        <source>Copy</source>
        <translation>コピー</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/report_dialog.py" line="+47"/>
        <source>Report</source>
        <translation>レポート</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Copy report</source>
        <translation>レポートをコピー</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Show logs</source>
        <translation>ログを表示</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>This report stays on your computer unless you send it. It has no messages, keys or names of chats.</source>
        <translation>このレポートは、送信しない限りこのコンピューターから出ません。メッセージ、キー、チャットの名前は含まれていません。</translation>
    </message>
    <message>
        <location line="+19"/>
        <location filename="../../desktop/sotto/ui/markdown/code_header.py" line="+12"/>
        <location filename="../../desktop/sotto/ui/settings/api_page.py" line="+147"/>
        <location filename="../../desktop/sotto/ui/transcript/answer_message.py" line="+200"/>
        <location filename="../../desktop/sotto/ui/transcript/picture_viewer.py" line="+157"/>
        <location filename="../../desktop/sotto/ui/transcript/user_message.py" line="+98"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+205"/>
        <source>Copied</source>
        <translation>コピー済み</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/markdown/view.py" line="+288"/>
        <source>Scroll table sideways</source>
        <translation>表を横にスクロール</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Scroll code sideways</source>
        <translation>コードを横にスクロール</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+63"/>
        <location line="+76"/>
        <source>Searched folders</source>
        <translation>検索したフォルダー</translation>
    </message>
    <message>
        <location line="-74"/>
        <location filename="../../desktop/sotto/ui/models/models_controller.py" line="+340"/>
        <source>Add a model folder</source>
        <translation>モデルフォルダーを追加</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Add folder…</source>
        <translation>フォルダーを追加…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/finding_page.py" line="+40"/>
        <location line="+34"/>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+45"/>
        <location line="+28"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-244"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+71"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+70"/>
        <source>Get a model</source>
        <translation>モデルを入手</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/sight_actions.py" line="+64"/>
        <source>{model} does not see images</source>
        <translation>{model}は画像を見ることができません</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Switch to a model that sees them, or send without.</source>
        <translation>画像を見ることができるモデルに切り替えるか、画像なしで送信してください。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>None of your models sees images: get one that does, or send without.</source>
        <translation>画像を見ることができるモデルがありません。入手するか、画像なしで送信してください。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Use {model}</source>
        <translation>{model}を使う</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+0"/>
        <source>Get a model…</source>
        <translation>モデルを入手…</translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>Send without image|Send without images</source>
        <translation>
            <numerusform>画像なしで送信</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+10"/>
        <source>Looking for models…</source>
        <translation>モデルを検索中…</translation>
    </message>
    <message>
        <location line="+32"/>
        <source>Sotto reads them in place and never changes them. Drop a model here to add it.</source>
        <translation>元の場所から読み込むだけで、変更することはありません。モデルをここにドロップすると追加できます。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No other models found yet</source>
        <translation>ほかのモデルはまだ見つかっていません</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Models of Ollama, LM Studio and Hugging Face tools appear by themselves. Drop a model here to add it.</source>
        <translation>Ollama、LM Studio、Hugging Faceツールのモデルは自動的に表示されます。モデルをここにドロップすると追加できます。</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>not found</source>
        <translation>見つかりません</translation>
    </message>
    <message numerus="yes">
        <location line="+17"/>
        <source>Found 1 model you already have ({size})|Found {count} models you already have ({size})</source>
        <translation>
            <numerusform>すでにお持ちの{count}個のモデルが見つかりました（{size}）</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+5"/>
        <location filename="../../desktop/sotto/ui/models/memory_gauge.py" line="+183"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+235"/>
        <location filename="../../desktop/sotto/ui/settings/folders_page.py" line="+108"/>
        <source>1 model|{count} models</source>
        <translation>
            <numerusform>{count}個のモデル</numerusform>
        </translation>
    </message>
    <message>
        <location line="+0"/>
        <source>no models</source>
        <translation>モデルなし</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>4-bit models of up to about {billions}B suit this machine ({size} of memory).</source>
        <translation>このコンピューター（メモリ {size}）には、約{billions}Bまでの4ビットモデルが適しています。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_controller.py" line="+84"/>
        <source>The model was not downloaded</source>
        <translation>モデルはダウンロードされませんでした</translation>
    </message>
    <message>
        <location line="+32"/>
        <location filename="../../desktop/sotto/ui/models/keeping/model_keeper.py" line="+3"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-221"/>
        <location line="+272"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_controller.py" line="+110"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+223"/>
        <source>Load</source>
        <translation>ロード</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/report_dialog.py" line="-28"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="-27"/>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="+31"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-2"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-154"/>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/recipe_form.py" line="-51"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="-2"/>
        <location line="+4"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="+79"/>
        <source>Name of the model</source>
        <translation>モデル名</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Instructions that the model gets before each conversation</source>
        <translation>会話のたびにモデルに先に渡される指示</translation>
    </message>
    <message>
        <location line="+8"/>
        <location line="+38"/>
        <source>Stop texts</source>
        <translation>停止テキスト</translation>
    </message>
    <message>
        <location line="-37"/>
        <source>One per line</source>
        <translation>1 行に 1 つ</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Template</source>
        <translation>テンプレート</translation>
    </message>
    <message>
        <location line="+6"/>
        <location line="+45"/>
        <source>What the model reads</source>
        <translation>モデルが読む内容</translation>
    </message>
    <message>
        <location line="-17"/>
        <source>Options</source>
        <translation>オプション</translation>
    </message>
    <message>
        <location line="+70"/>
        <source>The template leaves the system prompt out.</source>
        <translation>このテンプレートではシステムプロンプトが使われません。</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Hide the template</source>
        <translation>テンプレートを隠す</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Change the template</source>
        <translation>テンプレートを変更</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_card.py" line="+38"/>
        <source>The selected model</source>
        <translation>選択中のモデル</translation>
    </message>
    <message>
        <location line="+8"/>
        <location filename="../../desktop/sotto/ui/gallery/offer_list.py" line="+227"/>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="+89"/>
        <source>Suits this machine best</source>
        <translation>このマシンに最適</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Show its page in the browser</source>
        <translation>モデルのページをブラウザで表示</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Its page</source>
        <translation>モデルのページ</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Opens your browser</source>
        <translation>ブラウザを開きます</translation>
    </message>
    <message>
        <location line="+134"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+10"/>
        <source>Get</source>
        <translation>入手</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Get {name}</source>
        <translation>{name} を入手</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>You have it</source>
        <translation>入手済み</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+0"/>
        <source>Get the model</source>
        <translation>このモデルを入手</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The name of a model in Ollama’s library, such as llama3.2:3b, or of one on Hugging Face, such as mlx-community/Qwen3-0.6B-4bit.</source>
        <translation>Ollama のライブラリのモデル名（例：llama3.2:3b）、または Hugging Face のモデル名（例：mlx-community/Qwen3-0.6B-4bit）。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-76"/>
        <source>Programming</source>
        <translation>プログラミング</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Many languages</source>
        <translation>多言語</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Long texts</source>
        <translation>長文</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mathematics</source>
        <translation>数学</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Made in the open</source>
        <translation>オープンに開発</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Everyday questions</source>
        <translation>日常の質問</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Small machines</source>
        <translation>小型のマシン</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Thinks first</source>
        <translation>先に考える</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Uses tools</source>
        <translation>ツールを使用</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Download by this name</source>
        <translation>この名前でダウンロード</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Made by</source>
        <translation>開発元</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Published by</source>
        <translation>公開元</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Architecture</source>
        <translation>アーキテクチャ</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/models/download_list.py" line="+37"/>
        <location filename="../../desktop/sotto/ui/settings/folders_page.py" line="-57"/>
        <source>Downloads</source>
        <translation>ダウンロード</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>{name} licence</source>
        <translation>{name} ライセンス</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>{fit} with {count} tokens</source>
        <translation>{fit}（{count} トークン）</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>On {host}</source>
        <translation>{host} の検索結果</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>By name</source>
        <translation>名前で指定</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Suggestions</source>
        <translation>おすすめ</translation>
    </message>
    <message numerus="yes">
        <location line="+6"/>
        <source>1 download|{count} downloads</source>
        <translation>
            <numerusform>{count} 回のダウンロード</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_row.py" line="+28"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="+71"/>
        <source>Resume</source>
        <translation>再開</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Resume the download of {name}</source>
        <translation>「{name}」のダウンロードを再開</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/state/model_state.py" line="+131"/>
        <source>Try again</source>
        <translation>再試行</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Try the download of {name} again</source>
        <translation>「{name}」のダウンロードを再試行</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+24"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="-36"/>
        <location line="+36"/>
        <source>Pause</source>
        <translation>一時停止</translation>
    </message>
    <message>
        <location line="-24"/>
        <source>Pause the download of {name}</source>
        <translation>「{name}」のダウンロードを一時停止</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>Cancel the download of {name}</source>
        <translation>「{name}」のダウンロードをキャンセル</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/customize_sheet.py" line="+39"/>
        <location filename="../../desktop/sotto/ui/models/download_row.py" line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="-33"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="+17"/>
        <location filename="../../desktop/sotto/ui/transcript/message_editor.py" line="+57"/>
        <location filename="../../desktop/sotto/ui/window/chat_files.py" line="+186"/>
        <location line="+23"/>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Create</source>
        <translation>作成</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Create the model</source>
        <translation>モデルを作成</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_row.py" line="+2"/>
        <source>Downloaded</source>
        <translation>ダウンロード済み</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_words.py" line="+20"/>
        <location filename="../../desktop/sotto/ui/window/request_list.py" line="-116"/>
        <source>Queued</source>
        <translation>待機中</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Looking it up</source>
        <translation>確認中</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_card.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/download_words.py" line="+1"/>
        <source>Downloading</source>
        <translation>ダウンロード中</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_words.py" line="+1"/>
        <source>Stalled</source>
        <translation>停滞中</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Retrying</source>
        <translation>再試行中</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="+32"/>
        <source>Paused</source>
        <translation>一時停止中</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Verifying</source>
        <translation>検証中</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="+1"/>
        <source>Failed</source>
        <translation>失敗</translation>
    </message>
    <message>
        <location line="+12"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+21"/>
        <source>{done} of {total}</source>
        <translation>{done} / {total}</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>more than a day left</source>
        <translation>残り1日以上</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+3"/>
        <source>{time} left</source>
        <translation>残り{time}</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Updating</source>
        <translation>更新中</translation>
    </message>
    <message>
        <location line="+21"/>
        <source>From Ollama’s library, at {host}.</source>
        <translation>Ollamaのライブラリ（{host}）から入手します。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>From Hugging Face, where {owner} publishes it.</source>
        <translation>{owner}が公開しているものを Hugging Face から入手します。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>From {host}, where {owner} publishes it.</source>
        <translation>{owner}が公開しているものを{host}から入手します。</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>You already have it: {places}.</source>
        <translation>すでにあります（{places}）。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>{name} is being downloaded.</source>
        <translation>「{name}」をダウンロードしています。</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{name} could not be downloaded</source>
        <translation>「{name}」をダウンロードできませんでした</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Its {size} were checked.</source>
        <translation>{size} を検証しました。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} is up to date</source>
        <translation>{name} は最新です</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{size} were downloaded and checked.</source>
        <translation>{size}をダウンロードし、検証しました。</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="+58"/>
        <source>{name} is here</source>
        <translation>「{name}」を入手しました</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/downloads.py" line="-49"/>
        <source>Earlier downloads could not be read</source>
        <translation>以前のダウンロードを読み取れませんでした</translation>
    </message>
    <message>
        <location line="+46"/>
        <source>The download of {name} was cancelled</source>
        <translation>「{name}」のダウンロードをキャンセルしました</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The {size} downloaded so far will be deleted in a moment.</source>
        <translation>ダウンロード済みの{size}はまもなく削除されます。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/idle_unloader.py" line="+68"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-92"/>
        <source>Stays loaded</source>
        <translation>メモリに保持中</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Unloads in {time} if idle</source>
        <translation>アイドル時は{time}後にアンロード</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/memory_gauge.py" line="-157"/>
        <source>{free} free</source>
        <translation>空き {free}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Memory: {free} of {total} free</source>
        <translation>メモリ：空き {free} / {total}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{free} free · getting tight</source>
        <translation>空き {free} · 少なめ</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Memory getting tight: {free} of {total} free</source>
        <translation>メモリが少なくなっています：空き {free} / {total}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{free} free · nearly full</source>
        <translation>空き {free} · 残りわずか</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Memory nearly full: {free} of {total} free</source>
        <translation>メモリの残りがわずかです：空き {free} / {total}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{free} free · critical</source>
        <translation>空き {free} · 深刻な不足</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Memory critical: {free} of {total} free</source>
        <translation>メモリが深刻に不足しています：空き {free} / {total}</translation>
    </message>
    <message>
        <location line="+48"/>
        <source>Memory</source>
        <translation>メモリ</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+63"/>
        <source>Show memory details</source>
        <translation>メモリの詳細を表示</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Hide memory details</source>
        <translation>メモリの詳細を隠す</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Memory unknown</source>
        <translation>メモリ不明</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Contexts take at most {size}</source>
        <translation>コンテキストの使用量は最大{size}</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Other programs</source>
        <translation>ほかのアプリ</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>This model</source>
        <translation>このモデル</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Context in use</source>
        <translation>使用中のコンテキスト</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/data_page.py" line="+8"/>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="+23"/>
        <source>Prompt cache</source>
        <translation>プロンプトキャッシュ</translation>
    </message>
    <message numerus="yes">
        <location line="+3"/>
        <source>A context of 1 token|A context of {count} tokens</source>
        <translation>
            <numerusform>{count}トークンのコンテキスト</numerusform>
        </translation>
    </message>
    <message>
        <location line="+50"/>
        <source>{name} would take {size}</source>
        <translation>{name}の予測使用量 {size}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-262"/>
        <source>Weights</source>
        <translation>重み</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+110"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="-183"/>
        <source>Context</source>
        <translation>コンテキスト</translation>
    </message>
    <message>
        <location line="-109"/>
        <source>While computing</source>
        <translation>計算用</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Together</source>
        <translation>合計</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Predicted</source>
        <translation>予測</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>In use now</source>
        <translation>現在の使用量</translation>
    </message>
    <message>
        <location line="+49"/>
        <location line="+206"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+30"/>
        <source>Favourite</source>
        <translation>お気に入り</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_card.py" line="-175"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-203"/>
        <source>Close details</source>
        <translation>詳細を閉じる</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+8"/>
        <location line="+218"/>
        <source>Add adapter…</source>
        <translation>アダプターを追加…</translation>
    </message>
    <message>
        <location line="-214"/>
        <source>Keep the model in Sotto’s own store, so that it stays when the other program deletes it</source>
        <translation>ほかのプログラムが削除しても残るように、モデルを Sotto のストアに保管します</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Keep a copy…</source>
        <translation>コピーを保管…</translation>
    </message>
    <message>
        <location line="+7"/>
        <location filename="../../desktop/sotto/ui/preferences/sampling_options.py" line="+61"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="-23"/>
        <source>Context length</source>
        <translation>コンテキスト長</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>More about this model</source>
        <translation>このモデルのその他の操作</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Keep the model in memory when it is idle</source>
        <translation>アイドル時もモデルをメモリに保持します</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+173"/>
        <source>Keep loaded</source>
        <translation>メモリに保持</translation>
    </message>
    <message>
        <location line="-6"/>
        <source>Details of {name}</source>
        <translation>「{name}」の詳細</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Favourites come first in the list</source>
        <translation>お気に入りはリストの先頭に表示されます</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>Adapter: {name}</source>
        <translation>アダプター：{name}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>No adapter</source>
        <translation>アダプターなし</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Remove adapter</source>
        <translation>アダプターを外す</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>Unknown whether it fits</source>
        <translation>メモリの余裕は不明</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>Converted to {format}</source>
        <translation>{format}に変換</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>{needed} of {total}</source>
        <translation>{needed} / {total}</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>It will be available again once its disk is connected.</source>
        <translation>ディスクを接続すると、再び使用できるようになります。</translation>
    </message>
    <message>
        <location line="+21"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-34"/>
        <source>Eject</source>
        <translation>アンロード</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="-9"/>
        <source>Eject {name}</source>
        <translation>「{name}」をアンロード</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="+7"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+25"/>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Progress</source>
        <translation>進行状況</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+8"/>
        <source>Stop loading {name}</source>
        <translation>「{name}」のロードを停止</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Load anyway</source>
        <translation>それでもロード</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Load {name} anyway</source>
        <translation>それでも「{name}」をロード</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Load {name}</source>
        <translation>「{name}」をロード</translation>
    </message>
    <message>
        <location line="+92"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+275"/>
        <source>unknown</source>
        <translation>不明</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-147"/>
        <source>Built in</source>
        <translation>内蔵</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Folder</source>
        <translation>フォルダー</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>fits into memory</source>
        <translation>メモリに余裕あり</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>a tight fit</source>
        <translation>メモリの余裕わずか</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>does not fit into memory</source>
        <translation>メモリ不足</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>unknown whether it fits</source>
        <translation>メモリの余裕は不明</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Disk not connected</source>
        <translation>ディスク未接続</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>favourite</source>
        <translation>お気に入り</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>stays loaded</source>
        <translation>メモリに保持中</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-15"/>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="+32"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-210"/>
        <source>Cannot run here</source>
        <translation>実行不可</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-31"/>
        <source>sees images</source>
        <translation>画像を見る</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>Loaded</source>
        <translation>ロード済み</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+67"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="-32"/>
        <source>Could not be loaded</source>
        <translation>ロードできませんでした</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>{bits}-bit</source>
        <translation>{bits}ビット</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+179"/>
        <source>vectors</source>
        <translation>ベクトル</translation>
    </message>
    <message numerus="yes">
        <location line="+24"/>
        <source>1-token context|{count}-token context</source>
        <translation>
            <numerusform>コンテキスト長 {count}</numerusform>
        </translation>
    </message>
    <message>
        <location line="+5"/>
        <source>{number} parameters</source>
        <translation>{number}パラメーター</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>Images</source>
        <translation>画像</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Tools</source>
        <translation>ツール</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Embeddings, with sotto embed or the API</source>
        <translation>埋め込み（sotto embedまたはAPIで使用）</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Embeddings</source>
        <translation>埋め込み</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>{size} on disk, deleting frees {freed}</source>
        <translation>ディスク上に {size}、削除すると {freed} 空きます</translation>
    </message>
    <message>
        <location line="+16"/>
        <source>Memory in use after loading: {percent} % of {size}.</source>
        <translation>ロード後のメモリ使用量：{size}の{percent}%。</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Predicted {size}, uses {actual}</source>
        <translation>予測 {size}、実際 {actual}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-90"/>
        <source>Recently Used</source>
        <translation>最近使用した順</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/recipe_form.py" line="-84"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="+23"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="-279"/>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="+342"/>
        <source>Name</source>
        <translation>名前</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+1"/>
        <source>Size</source>
        <translation>サイズ</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+3"/>
        <source>Fit</source>
        <translation>メモリの余裕</translation>
    </message>
    <message>
        <location line="+74"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+16"/>
        <source>Rescan models</source>
        <translation>モデルを再スキャン</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-2"/>
        <source>Sort models</source>
        <translation>モデルを並べ替え</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+0"/>
        <source>Download a model by name</source>
        <translation>名前を指定してモデルをダウンロード</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-15"/>
        <source>Find a model to download</source>
        <translation>ダウンロードするモデルを探す</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+3"/>
        <source>Manage models</source>
        <translation>モデルを管理</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Manage…</source>
        <translation>管理…</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="-1"/>
        <source>Show all models on a page</source>
        <translation>すべてのモデルを1つのページに表示</translation>
    </message>
    <message>
        <location line="+12"/>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/model_table_view.py" line="+92"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-6"/>
        <location line="+61"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+10"/>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="-10"/>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="-13"/>
        <source>Models</source>
        <translation>モデル</translation>
    </message>
    <message>
        <location line="+170"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+122"/>
        <source>No model is called “{text}”.</source>
        <translation>「{text}」という名前のモデルはありません。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Other models appear here. Get one below, or drop one on this window.</source>
        <translation>ほかのモデルはここに表示されます。下から入手するか、このウィンドウにドロップしてください。</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>Use</source>
        <translation>使用</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Details</source>
        <translation>詳細</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Copy Name</source>
        <translation>名前をコピー</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Show Folder</source>
        <translation>フォルダーを表示</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Verify Files</source>
        <translation>ファイルを検証</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Customize…</source>
        <translation>カスタマイズ…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Use a Template…</source>
        <translation>テンプレートを使用…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Use the Model’s Template</source>
        <translation>モデルのテンプレートを使用</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Duplicate…</source>
        <translation>複製…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Keep a Copy…</source>
        <translation>コピーを保管…</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Keep Loaded</source>
        <translation>メモリに保持</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="-20"/>
        <location filename="../../desktop/sotto/ui/state/model_state.py" line="+1"/>
        <location filename="../../desktop/sotto/ui/window/chat_header.py" line="+22"/>
        <source>Choose a model</source>
        <translation>モデルを選択</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-170"/>
        <source>Filter models</source>
        <translation>モデルを絞り込む</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Filter models…</source>
        <translation>モデルを絞り込む…</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>No model matches.</source>
        <translation>一致するモデルがありません。</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Manage models…</source>
        <translation>モデルを管理…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="-253"/>
        <source>Eject and free its memory</source>
        <translation>アンロードしてメモリを解放</translation>
    </message>
    <message>
        <location line="+70"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+218"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="-2"/>
        <source>Ejecting…</source>
        <translation>アンロード中…</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>cannot run</source>
        <translation>実行不可</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>loaded, answering</source>
        <translation>ロード済み、回答中</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>loaded</source>
        <translation>ロード済み</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-55"/>
        <location line="+8"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="-220"/>
        <source>Parameters</source>
        <translation>パラメーター</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+1"/>
        <source>Bits</source>
        <translation>ビット数</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Source</source>
        <translation>場所</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Last used</source>
        <translation>最終使用</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Disk use</source>
        <translation>ディスク使用量</translation>
    </message>
    <message numerus="yes">
        <location line="+175"/>
        <source>{shown} of 1 model|{shown} of {count} models</source>
        <translation>
            <numerusform>{count}個中{shown}個のモデル</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-25"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+9"/>
        <source>{size} on disk</source>
        <translation>ディスク上 {size}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+28"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="-10"/>
        <source>Loading…</source>
        <translation>ロード中…</translation>
    </message>
    <message numerus="yes">
        <location line="+27"/>
        <source>With a context of 1 token.|With a context of {count} tokens.</source>
        <translation>
            <numerusform>{count}トークンのコンテキストの場合。</numerusform>
        </translation>
    </message>
    <message>
        <location line="+7"/>
        <source>All copies together, in {places}</source>
        <translation>すべてのコピーの合計（{places}）</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>never</source>
        <translation>未使用</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>{title}, sorted down</source>
        <translation>{title}、降順</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{title}, sorted up</source>
        <translation>{title}、昇順</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_templates.py" line="+114"/>
        <source>A template for {name}: Jinja or Go</source>
        <translation>「{name}」のテンプレート：JinjaまたはGo</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{name} keeps its template</source>
        <translation>「{name}」のテンプレートはそのままです</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Template set</source>
        <translation>テンプレートを設定しました</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>It makes the prompts of {name} from now on.</source>
        <translation>今後「{name}」のプロンプトはこのテンプレートで作成されます。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>It makes the prompts of {name} from the next load on.</source>
        <translation>次回のロードから「{name}」のプロンプトはこのテンプレートで作成されます。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Template reset</source>
        <translation>テンプレートをリセットしました</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>{name} uses its own template from now on.</source>
        <translation>今後「{name}」はモデル自身のテンプレートを使用します。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} uses its own template from the next load on.</source>
        <translation>「{name}」は次回のロードからモデル自身のテンプレートを使用します。</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>The folder of a LoRA adapter for {name}</source>
        <translation>{name} 用の LoRA アダプターのフォルダー</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{name} keeps its adapter</source>
        <translation>{name} のアダプターは変わりません</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Adapter added</source>
        <translation>アダプターを追加しました</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>{name} answers with it from now on.</source>
        <translation>{name} はこれからこのアダプターを使って回答します。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} answers with it from the next load on.</source>
        <translation>{name} は次に読み込んだときからこのアダプターを使って回答します。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Adapter removed</source>
        <translation>アダプターを外しました</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>{name} answers without one from now on.</source>
        <translation>{name} はこれからアダプターなしで回答します。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} answers without one from the next load on.</source>
        <translation>{name} は次に読み込んだときからアダプターなしで回答します。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_trash.py" line="-5"/>
        <source>{name} was not deleted</source>
        <translation>「{name}」は削除されませんでした</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{name} was deleted</source>
        <translation>「{name}」を削除しました</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Frees {size} once the trash is emptied, in an hour.</source>
        <translation>1 時間後にゴミ箱が空になると {size} 空きます。</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>{name} could not be restored</source>
        <translation>「{name}」を復元できませんでした</translation>
    </message>
    <message>
        <location line="+48"/>
        <source>Restore {name}</source>
        <translation>{name} を元に戻す</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Empty the Trash</source>
        <translation>ゴミ箱を空にする</translation>
    </message>
    <message>
        <location line="-40"/>
        <source>The trash of models could not be emptied</source>
        <translation>モデルのゴミ箱を空にできませんでした</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/models_controller.py" line="+12"/>
        <source>The name of {folder} is not UTF-8, so it cannot be saved; rename the folder.</source>
        <translation>「{folder}」の名前がUTF-8ではないため、保存できません。フォルダーの名前を変更してください。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The folder was not added</source>
        <translation>フォルダーは追加されませんでした</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/finding_page.py" line="-31"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-9"/>
        <source>Back to the chat</source>
        <translation>チャットに戻る</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+0"/>
        <source>Back</source>
        <translation>戻る</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Search for models</source>
        <translation>モデルを検索</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Search Hugging Face, or type a name</source>
        <translation>Hugging Face を検索、または名前を入力</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+5"/>
        <source>Import a folder or a GGUF file into Sotto’s own store</source>
        <translation>フォルダーまたはGGUFファイルをSottoの保存場所にインポート</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Import…</source>
        <translation>インポート…</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>Details of the selected model</source>
        <translation>選択したモデルの詳細</translation>
    </message>
    <message numerus="yes">
        <location line="+101"/>
        <source>1 deleted model…|{count} deleted models…</source>
        <translation>
            <numerusform>削除したモデル {count} 個…</numerusform>
        </translation>
    </message>
    <message>
        <location line="+57"/>
        <source>No models yet.</source>
        <translation>モデルはまだありません。</translation>
    </message>
    <message>
        <location line="+43"/>
        <source>Ascending</source>
        <translation>昇順</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Descending</source>
        <translation>降順</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+6"/>
        <source>Choose one above or in the list, or drop one here</source>
        <translation>上またはリストから選択するか、ここにドロップしてください</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Loads when needed</source>
        <translation>必要になるとロード</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Loading</source>
        <translation>ロード中</translation>
    </message>
    <message numerus="yes">
        <location line="+3"/>
        <source>1 token of context|{count} tokens of context</source>
        <translation>
            <numerusform>コンテキスト {count}トークン</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Ready</source>
        <translation>準備完了</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>makes embeddings</source>
        <translation>埋め込み用</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-11"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+2"/>
        <source>predicts tokens ahead</source>
        <translation>トークンを先読み</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+20"/>
        <source>Reading the tokenizer</source>
        <translation>トークナイザーを読み取り中</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Warming up</source>
        <translation>ウォームアップ中</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>no progress for {time}</source>
        <translation>{time}進行なし</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/palette/palette.py" line="+49"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="+298"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="-39"/>
        <source>Chat</source>
        <translation>チャット</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="-47"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="+49"/>
        <source>Model</source>
        <translation>モデル</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Menu</source>
        <translation>メニュー</translation>
    </message>
    <message>
        <location line="+152"/>
        <source>Command palette</source>
        <translation>コマンドパレット</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Search chats, models and commands</source>
        <translation>チャット、モデル、コマンドを検索</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Open a chat, load a model, run a command</source>
        <translation>チャットを開く、モデルをロード、コマンドを実行</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Results</source>
        <translation>検索結果</translation>
    </message>
    <message>
        <location line="+9"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-69"/>
        <source>No results.</source>
        <translation>一致するものがありません。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/global_shortcut.py" line="+91"/>
        <source>{keys} is not a key that could be pressed: write it as Ctrl+Alt+Space.</source>
        <translation>「{keys}」は押せるキーではありません。Ctrl+Alt+Spaceのように指定してください。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>{keys} alone would stop working in all other programs: combine it with Ctrl, Alt or Meta.</source>
        <translation>{keys}だけを指定すると、ほかのすべてのアプリで使えなくなります。Ctrl、Alt、またはMetaと組み合わせてください。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/login_item.py" line="+51"/>
        <source>{file} cannot be changed: {reason}.</source>
        <translation>「{file}」を変更できません（{reason}）。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/mac_keys.py" line="+74"/>
        <source>{keys} cannot be taken: choose a letter, a digit or Space with Cmd, Ctrl or Option.</source>
        <translation>{keys}は使用できません。文字、数字、またはスペースを、Cmd、Ctrl、またはOptionと組み合わせてください。</translation>
    </message>
    <message>
        <location line="+7"/>
        <location filename="../../desktop/sotto/ui/platform/x11_keys.py" line="+79"/>
        <source>{keys} is already used by another program: choose another shortcut for the quick prompt.</source>
        <translation>{keys}はほかのアプリで使用されています。クイックプロンプトには別のショートカットを選択してください。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/portal_keys.py" line="+25"/>
        <source>Show or hide the quick prompt</source>
        <translation>クイックプロンプトの表示/非表示</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Waiting for the desktop to grant the shortcut.</source>
        <translation>デスクトップ環境がショートカットを許可するのを待っています。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The desktop grants shortcuts only to installed apps: install Sotto’s menu entry, app.sotto.desktop, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>デスクトップ環境は、インストール済みのアプリにのみショートカットを許可します。Sottoのメニュー項目（app.sotto.desktop）をインストールするか、デスクトップ環境の設定で `sotto --toggle` にキーを割り当ててください。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>The desktop did not grant {keys}, and will ask again at the next start: choose another shortcut or none, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>デスクトップ環境が {keys} を許可しませんでした。次回の起動時にもう一度確認されます。別のショートカットを選ぶかショートカットを消去するか、デスクトップ環境の設定で `sotto --toggle` にキーを割り当ててください。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>The desktop did not answer the request for {keys}: choose another shortcut, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>{keys} の要求に対してデスクトップ環境から応答がありませんでした。別のショートカットを選ぶか、デスクトップ環境の設定で `sotto --toggle` にキーを割り当ててください。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>The desktop’s shortcut service has stopped; {keys} will work again when it is back.</source>
        <translation>デスクトップ環境のショートカット機能が停止しました。再開すると {keys} はまた使えるようになります。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The desktop could not grant {keys}: choose another shortcut, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>デスクトップ環境が {keys} を許可できませんでした。別のショートカットを選ぶか、デスクトップ環境の設定で `sotto --toggle` にキーを割り当ててください。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The desktop has withdrawn the shortcut: choose another one, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>デスクトップ環境がショートカットを取り消しました。別のショートカットを選ぶか、デスクトップ環境の設定で `sotto --toggle` にキーを割り当ててください。</translation>
    </message>
    <message>
        <location line="+121"/>
        <source>Your desktop calls it “{description}”. Choose its shortcut in the settings of your desktop.</source>
        <translation>デスクトップ環境では「{description}」と表示されます。ショートカットはデスクトップ環境の設定で選んでください。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Your desktop grants: {keys}. You can change it in the settings of your desktop.</source>
        <translation>デスクトップ環境が許可したキー：{keys}。デスクトップ環境の設定で変更できます。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/x11_keys.py" line="-7"/>
        <source>There is no {keys} on this keyboard: choose other keys for the quick prompt.</source>
        <translation>このキーボードに{keys}はありません。クイックプロンプトには別のキーを選択してください。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/answer_options.py" line="+18"/>
        <source>On</source>
        <translation>オン</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Off</source>
        <translation>オフ</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Low</source>
        <translation>低</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Medium</source>
        <translation>中</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>High</source>
        <translation>高</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Max</source>
        <translation>最大</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Whether the model thinks before it answers and, if it can be set, how much</source>
        <translation>モデルが回答前に思考するかどうかと、設定できる場合はその深さ</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Answers follow the JSON schema.</source>
        <translation>回答はJSONスキーマに従います。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answers match the regular expression.</source>
        <translation>回答は正規表現に一致します。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answers match the Lark grammar.</source>
        <translation>回答はLark文法に一致します。</translation>
    </message>
    <message>
        <location line="+112"/>
        <source>Answers follow {name}.</source>
        <translation>回答は {name} に従います。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answers match {name}.</source>
        <translation>回答は {name} に一致します。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-2"/>
        <location filename="../../desktop/sotto/ui/preferences/answer_options.py" line="-14"/>
        <source>Format</source>
        <translation>形式</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/answer_options.py" line="+9"/>
        <source>Answers are JSON objects.</source>
        <translation>回答はJSONオブジェクトになります。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/presets.py" line="+122"/>
        <source>A preset needs a name.</source>
        <translation>プリセットには名前が必要です。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>A name can have at most {most} characters; this one has {count}.</source>
        <translation>名前は{most}文字までです（現在{count}文字）。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>There is already a preset “{name}”: choose another name.</source>
        <translation>プリセット「{name}」はすでにあります。別の名前を選択してください。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/sampling_options.py" line="-46"/>
        <source>Max thinking tokens</source>
        <translation>最大思考トークン数</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>In tokens; then thinking ends</source>
        <translation>この数のトークンに達すると思考を終了します</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+19"/>
        <source>no limit</source>
        <translation>無制限</translation>
    </message>
    <message>
        <location line="-17"/>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>0 always picks the most likely token; higher is more varied</source>
        <translation>0では常に最も確率の高いトークンを選び、大きいほど多様になります</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Samples from the most likely tokens up to this total probability</source>
        <translation>確率の高い順に、合計がこの確率に達するまでのトークンからサンプリングします</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Samples from this many of the most likely tokens; 0 from all</source>
        <translation>確率の高い順に、この数のトークンからサンプリングします（0ではすべて）</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Excludes tokens below this fraction of the highest probability</source>
        <translation>確率が最大値のこの割合に満たないトークンを除外します</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Typical-p</source>
        <translation>Typical-p</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Excludes tokens that are unusually likely or unlikely</source>
        <translation>確率が極端に高い、または低いトークンを除外します</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>XTC</source>
        <translation>XTC</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How often the most likely tokens are excluded, for variety</source>
        <translation>多様性のために、最も確率の高いトークンを除外する頻度です</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Repeat penalty</source>
        <translation>繰り返しペナルティ</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Above 1 repeats less</source>
        <translation>1より大きいと繰り返しが減ります</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY</source>
        <translation>DRY</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Above 0 avoids repeating whole passages</source>
        <translation>0より大きいと長いフレーズの繰り返しを避けます</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Seed</source>
        <translation>シード</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The same seed gives the same answer</source>
        <translation>同じシードでは同じ回答になります</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>random</source>
        <translation>ランダム</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Max response tokens</source>
        <translation>最大回答トークン数</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+27"/>
        <source>In tokens</source>
        <translation>トークン単位で指定します</translation>
    </message>
    <message>
        <location line="-23"/>
        <source>Presence penalty</source>
        <translation>存在ペナルティ</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Subtracted once from tokens that have occurred</source>
        <translation>すでに出現したトークンから1回だけ差し引きます</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Frequency penalty</source>
        <translation>頻度ペナルティ</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Subtracted for each time that a token has occurred</source>
        <translation>トークンが出現した回数だけ差し引きます</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Penalty window</source>
        <translation>ペナルティの範囲</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The penalties cover this many of the last tokens; -1 for the whole context, 0 for none</source>
        <translation>ペナルティの対象とする直近のトークン数です（-1ではコンテキスト全体、0ではなし）</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>XTC threshold</source>
        <translation>XTCのしきい値</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>XTC excludes tokens at or above this probability</source>
        <translation>XTCは、この確率以上のトークンを除外します</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY base</source>
        <translation>DRYのベース</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How fast the DRY penalty grows with the repeated length</source>
        <translation>繰り返しの長さに応じてDRYのペナルティが増える速さです</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY length</source>
        <translation>DRYの許容長</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>In tokens; shorter passages may repeat</source>
        <translation>トークン数です。これより短いフレーズは繰り返せます</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY window</source>
        <translation>DRYの範囲</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY covers this many of the last tokens; -1 for the whole context, 0 for none</source>
        <translation>DRYの対象とする直近のトークン数です（-1ではコンテキスト全体、0ではなし）</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mirostat</source>
        <translation>Mirostat</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Version 1 or 2, which replaces the options that exclude tokens; 0 is off</source>
        <translation>バージョン1または2。トークンを除外するオプションの代わりに使われます（0ではオフ）</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mirostat tau</source>
        <translation>Mirostat tau</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How surprising each token should be, in bits</source>
        <translation>各トークンの意外性の目標値です（ビット単位）</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mirostat eta</source>
        <translation>Mirostat eta</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>How fast mirostat adapts</source>
        <translation>Mirostatが適応する速さです</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>the model’s maximum</source>
        <translation>モデルの最大値</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="-13"/>
        <source>Sotto: Quick Prompt</source>
        <translation>Sotto：クイックプロンプト</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="-15"/>
        <source>Quick prompt</source>
        <translation>クイックプロンプト</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>Ask anything</source>
        <translation>何でも質問してください</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Use clipboard</source>
        <translation>クリップボードを使用</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Insert the clipboard’s text or image</source>
        <translation>クリップボードのテキストまたは画像を挿入</translation>
    </message>
    <message>
        <location line="+4"/>
        <location line="+35"/>
        <source>Open in Sotto</source>
        <translation>Sottoで開く</translation>
    </message>
    <message>
        <location line="-35"/>
        <source>Continue in Sotto’s window</source>
        <translation>Sottoのウィンドウで続ける</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>More</source>
        <translation>その他</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>Reset Position</source>
        <translation>位置をリセット</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Hide</source>
        <translation>隠す</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>loading…</source>
        <translation>ロード中…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>failed</source>
        <translation>失敗</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>ejecting…</source>
        <translation>アンロード中…</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Model: {name}, {state}. Choose another one</source>
        <translation>モデル：{name}、{state}。別のモデルを選択</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Model: {name}. Choose another one</source>
        <translation>モデル：{name}。別のモデルを選択</translation>
    </message>
    <message>
        <location line="+42"/>
        <source>No model found</source>
        <translation>モデルが見つかりません</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/quick/quick_prompt.py" line="+220"/>
        <source>1 character from the clipboard|{count} characters from the clipboard</source>
        <translation>
            <numerusform>クリップボードから{count}文字</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/session/api_switch.py" line="+128"/>
        <source>The API could not be started ({error}).</source>
        <translation>APIを開始できませんでした（{error}）。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/session/model_library.py" line="+195"/>
        <source>The models could not be listed</source>
        <translation>モデルの一覧を取得できませんでした</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>{address} is not on this computer: download the model first, then drop its folder.</source>
        <translation>「{address}」はこのコンピューター上にありません。先にモデルをダウンロードしてから、そのフォルダーをドロップしてください。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Not on this computer</source>
        <translation>このコンピューター上にありません</translation>
    </message>
    <message>
        <location line="+5"/>
        <location filename="../../desktop/sotto/ui/session/session.py" line="+231"/>
        <source>{name} could not be loaded</source>
        <translation>「{name}」をロードできませんでした</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Load {names} from the list.</source>
        <translation>{names} はリストからロードしてください。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Only one model was loaded</source>
        <translation>1つのモデルのみロードしました</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Not everything was loaded</source>
        <translation>一部がロードされませんでした</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>The files of {model} are read and compared with their digests.</source>
        <translation>「{model}」のファイルを読み取り、チェックサムと照合しています。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Checking files</source>
        <translation>ファイルを検証中</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>{model} could not be checked</source>
        <translation>「{model}」を検証できませんでした</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{model} is damaged</source>
        <translation>「{model}」は破損しています</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No damage found</source>
        <translation>破損は見つかりませんでした</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>All files of {model} match their digests.</source>
        <translation>「{model}」のすべてのファイルがチェックサムと一致しています。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/session/session.py" line="-228"/>
        <source>Choose or download a model; your message is kept.</source>
        <translation>モデルを選択またはダウンロードしてください。メッセージは保持されます。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>No model is loaded</source>
        <translation>モデルがロードされていません</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>the model</source>
        <translation>モデル</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>It was in {folder}, on a disk that is not connected.</source>
        <translation>接続されていないディスクの「{folder}」にあります。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{model} is not there</source>
        <translation>「{model}」が見つかりません</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{model} cannot run here</source>
        <translation>「{model}」はここでは実行できません</translation>
    </message>
    <message>
        <location line="+195"/>
        <source>The engine stopped</source>
        <translation>エンジンが停止しました</translation>
    </message>
    <message>
        <location line="+42"/>
        <source>This model has no chat template</source>
        <translation>このモデルにはチャットテンプレートがありません</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>The chat template ignores questions</source>
        <translation>チャットテンプレートが質問を無視します</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>{wanted} tokens were requested; the engine loaded {loaded}.</source>
        <translation>{wanted}トークンを指定しましたが、エンジンは{loaded}トークンでロードしました。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The context is shorter than requested</source>
        <translation>コンテキストが指定より短くなっています</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="-42"/>
        <location line="+15"/>
        <source>Scroll with the answer</source>
        <translation>回答に合わせてスクロール</translation>
    </message>
    <message>
        <location line="-11"/>
        <source>Instructions that models get before your messages</source>
        <translation>メッセージの前にモデルに与える指示</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Stops when the answer fills the window, or when you scroll.</source>
        <translation>回答がウィンドウいっぱいになるか、手動でスクロールすると停止します。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Defaults for new chats</source>
        <translation>新規チャットのデフォルト</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Whether the model thinks before it answers and, if it can be set, how much. No effect on models without it.</source>
        <translation>モデルが回答前に思考するかどうかと、設定できる場合はその深さです。思考機能のないモデルには影響しません。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Advanced</source>
        <translation>詳細</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Individual chats can override these.</source>
        <translation>チャットごとに変更できます。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>In tokens, up to the maximum of each model. If there is not enough memory, the model is not loaded and you see how many would fit. Applies from the next load.</source>
        <translation>トークン数です（各モデルの最大値まで）。メモリが足りない場合、モデルはロードされず、収まるトークン数が表示されます。次回のロードから適用されます。</translation>
    </message>
    <message>
        <location line="+54"/>
        <source>The system prompt can have at most {most} characters; this one has {count} and is not used.</source>
        <translation>システムプロンプトは{most}文字までです。現在{count}文字のため、使用されません。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/api_page.py" line="-121"/>
        <location line="+59"/>
        <source>Port</source>
        <translation>ポート</translation>
    </message>
    <message>
        <location line="-54"/>
        <source>The port that programs connect to</source>
        <translation>アプリが接続するポート</translation>
    </message>
    <message>
        <location line="+11"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-8"/>
        <location line="+6"/>
        <location line="+27"/>
        <source>Local server</source>
        <translation>ローカルサーバー</translation>
    </message>
    <message>
        <location line="+11"/>
        <location line="+20"/>
        <source>Let other programs use the models</source>
        <translation>ほかのアプリにモデルの使用を許可</translation>
    </message>
    <message>
        <location line="-18"/>
        <location line="+23"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-21"/>
        <source>Address</source>
        <translation>アドレス</translation>
    </message>
    <message>
        <location line="-18"/>
        <location line="+28"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+0"/>
        <source>Key</source>
        <translation>APIキー</translation>
    </message>
    <message>
        <location line="-25"/>
        <location line="+31"/>
        <source>Web pages</source>
        <translation>Webページ</translation>
    </message>
    <message>
        <location line="-30"/>
        <source>None</source>
        <comment>web pages</comment>
        <translation>なし</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Generate a new key</source>
        <translation>新しいAPIキーを生成</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+8"/>
        <source>Copy the key</source>
        <translation>APIキーをコピー</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-6"/>
        <source>Copy the address</source>
        <translation>アドレスをコピー</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>{address} accepts only programs on this computer; any other address needs a key.</source>
        <translation>{address}ではこのコンピューター上のアプリのみ接続できます。それ以外のアドレスにはAPIキーが必要です。</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Programs must send it. It can be empty if only this computer can connect.</source>
        <translation>アプリはこのキーを送信する必要があります。このコンピューターからのみ接続できる場合は、空でもかまいません。</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Pages that may use the models, such as http://localhost:3000; others are refused.</source>
        <translation>モデルの使用を許可するページ（例：http://localhost:3000）。ほかのページは拒否されます。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Access</source>
        <translation>アクセス</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Compatible with the Ollama, OpenAI and Anthropic APIs. Programs share the model in the window; their requests are not saved in your chats.</source>
        <translation>Ollama、OpenAI、AnthropicのAPIと互換性があります。アプリはウィンドウのモデルを共有します。アプリのリクエストはチャットに保存されません。</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>One moment…</source>
        <translation>お待ちください…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Off: no program can connect.</source>
        <translation>オフ：アプリは接続できません。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Listening at {address}</source>
        <translation>{address}で待ち受け中</translation>
    </message>
    <message>
        <location line="+31"/>
        <source>An address is a name or number of this machine, such as {example}, not {typed}.</source>
        <translation>アドレスには、このコンピューターの名前または番号（例：{example}）を入力してください（入力値：{typed}）。</translation>
    </message>
    <message>
        <location line="+27"/>
        <source>The pages can have at most {most} characters in total.</source>
        <translation>ページは合計{most}文字までです。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/appearance_page.py" line="+15"/>
        <location line="+24"/>
        <location line="+8"/>
        <source>Text size</source>
        <translation>文字サイズ</translation>
    </message>
    <message>
        <location line="-32"/>
        <source>In percent</source>
        <translation>パーセント単位で指定します</translation>
    </message>
    <message>
        <location line="+7"/>
        <location line="+7"/>
        <source>Appearance</source>
        <translation>外観</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+23"/>
        <source>System</source>
        <translation>システム</translation>
    </message>
    <message>
        <location line="-23"/>
        <source>Light</source>
        <translation>ライト</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Dark</source>
        <translation>ダーク</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Smaller text</source>
        <translation>文字を小さく</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Larger text</source>
        <translation>文字を大きく</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Light or dark</source>
        <translation>ライト/ダーク</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>System follows the setting of your desktop.</source>
        <translation>「システム」では、デスクトップ環境の設定に従います。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Of the whole window; you can also change it in the View menu.</source>
        <translation>ウィンドウ全体の文字サイズです。「表示」メニューでも変更できます。</translation>
    </message>
    <message>
        <location line="+5"/>
        <location line="+3"/>
        <source>Language</source>
        <translation>言語</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Animations follow the system’s reduced-motion setting.</source>
        <translation>アニメーションは、システムの「視差効果を減らす」設定に従います。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/data_page.py" line="-15"/>
        <source>Your data</source>
        <translation>データ</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Delete all chats</source>
        <translation>すべてのチャットを削除</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Delete all?</source>
        <translation>すべて削除？</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Delete the prompt cache</source>
        <translation>プロンプトキャッシュを削除</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Delete?</source>
        <translation>削除？</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Reset</source>
        <translation>リセット</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Reset all settings</source>
        <translation>すべての設定をリセット</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Reset all?</source>
        <translation>すべてリセット？</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Delete all data</source>
        <translation>すべてのデータを削除</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Delete everything?</source>
        <translation>すべて削除？</translation>
    </message>
    <message>
        <location line="+5"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-224"/>
        <location line="+154"/>
        <source>Chats</source>
        <translation>チャット</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Everything</source>
        <translation>すべて</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>On this computer</source>
        <translation>このコンピューター上</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/settings/settings_window.py" line="+85"/>
        <source>Settings</source>
        <translation>設定</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Preferences, presets and the engine’s settings.</source>
        <translation>環境設定、プリセット、エンジンの設定です。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Deleted data cannot be restored. Models are not deleted.</source>
        <translation>削除したデータは復元できません。モデルは削除されません。</translation>
    </message>
    <message numerus="yes">
        <location line="+14"/>
        <location filename="../../desktop/sotto/ui/transfer/import_summary.py" line="+40"/>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="-198"/>
        <source>1 chat|{count} chats</source>
        <translation>
            <numerusform>{count}件のチャット</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>None</source>
        <comment>chats</comment>
        <translation>なし</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Empty</source>
        <comment>prompt cache</comment>
        <translation>空</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Chats, prompt cache and settings: frees {size}.</source>
        <translation>チャット、プロンプトキャッシュ、設定を削除し、{size}を解放します。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/engine_choices.py" line="+88"/>
        <location filename="../../desktop/sotto/ui/settings/user_data.py" line="+128"/>
        <source>Not everything in {folder} could be removed; another Sotto may be using it: close that first.</source>
        <translation>「{folder}」の一部を削除できませんでした。別のSottoが使用している可能性があります。先にそちらを終了してください。</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>The limit must be from {least} to the {total} that this machine has, not {size}.</source>
        <translation>上限は{least}からこのコンピューターのメモリ容量{total}までの範囲で指定してください（入力値：{size}）。</translation>
    </message>
    <message>
        <location line="+16"/>
        <source>A speed is a number followed by K, M or G, for example 5 MB, not {typed}.</source>
        <translation>速度は「5 MB」のように、数値とK、M、またはGで指定してください（入力値：{typed}）。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>The speed must be from {least} to {most} a second, not {speed}.</source>
        <translation>速度は毎秒{least}から{most}までの範囲で指定してください（入力値：{speed}）。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/engine_page.py" line="+15"/>
        <source>In the app’s process, which is fastest. If the engine crashes, so does the app; your chats are saved.</source>
        <translation>Sottoのプロセス内で、最も高速に実行します。エンジンがクラッシュするとSottoも終了しますが、チャットは保存されます。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>In its own process: if it crashes, an answer ends but the app keeps running. It needs a little more memory, and ejecting a model frees all of it.</source>
        <translation>独立したプロセスで実行します。クラッシュすると回答は中断されますが、Sottoは動作し続けます。メモリを少し多く使用しますが、モデルをアンロードするとすべて解放されます。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>If it needs more, it is ended and the answer says so; the next question starts it again.</source>
        <translation>上限を超えるとエンジンを終了し、回答にその旨を表示します。次の質問で再び起動します。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{variable} is set to {value} in the environment, which overrides this.</source>
        <translation>環境変数{variable}が{value}に設定されており、この設定より優先されます。</translation>
    </message>
    <message>
        <location line="+6"/>
        <location line="+7"/>
        <source>Engine</source>
        <translation>エンジン</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>In the app</source>
        <translation>アプリ内</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Isolated</source>
        <translation>分離</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Where models run</source>
        <translation>モデルの実行場所</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+4"/>
        <source>Memory limit of the isolated engine</source>
        <translation>分離したエンジンのメモリ上限</translation>
    </message>
    <message>
        <location line="-2"/>
        <source>No limit</source>
        <translation>無制限</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/appearance_page.py" line="-1"/>
        <location filename="../../desktop/sotto/ui/settings/engine_page.py" line="+10"/>
        <source>Takes effect after restart.</source>
        <translation>再起動後に有効になります。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/folders_page.py" line="-26"/>
        <source>Model folders</source>
        <translation>モデルフォルダー</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Add Folder…</source>
        <translation>フォルダーを追加…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Add folder</source>
        <translation>フォルダーを追加</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Your folders</source>
        <translation>追加したフォルダー</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Searched automatically</source>
        <translation>自動的に検索</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Other programs’ models are read in place and never changed, moved or deleted.</source>
        <translation>ほかのアプリのモデルは元の場所から読み込むだけで、変更、移動、削除することはありません。</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+3"/>
        <source>Download speed</source>
        <translation>ダウンロード速度</translation>
    </message>
    <message>
        <location line="-2"/>
        <source>Unlimited</source>
        <translation>無制限</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>For all downloads together, per second. Applies immediately.</source>
        <translation>すべてのダウンロードを合わせた毎秒の速度です。すぐに適用されます。</translation>
    </message>
    <message>
        <location line="+23"/>
        <source>Folders that you add are searched, including their subfolders.</source>
        <translation>追加したフォルダーは、サブフォルダーも含めて検索されます。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>None yet</source>
        <translation>まだありません</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Not found</source>
        <translation>見つかりません</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Remove folder {name}</source>
        <translation>フォルダー「{name}」を除外</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Stop searching this folder</source>
        <translation>このフォルダーの検索をやめる</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Add a folder with models</source>
        <translation>モデルのあるフォルダーを追加</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>No models</source>
        <translation>モデルなし</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="-51"/>
        <location line="+44"/>
        <source>Unload when idle</source>
        <translation>アイドル時にアンロード</translation>
    </message>
    <message>
        <location line="-44"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="-10"/>
        <source>In minutes</source>
        <translation>分単位で指定します</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Full</source>
        <translation>フル</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>8 bits</source>
        <translation>8ビット</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>4 bits</source>
        <translation>4ビット</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>16 bits</source>
        <translation>16ビット</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Memory and cache</source>
        <translation>メモリとキャッシュ</translation>
    </message>
    <message>
        <location line="+7"/>
        <location line="+4"/>
        <source>Memory limit</source>
        <translation>メモリ上限</translation>
    </message>
    <message>
        <location line="-3"/>
        <source>Cache in memory</source>
        <translation>メモリ上のキャッシュ</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Cache on disk</source>
        <translation>ディスク上のキャッシュ</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+48"/>
        <source>Context precision</source>
        <translation>コンテキストの精度</translation>
    </message>
    <message>
        <location line="-47"/>
        <source>Models and their contexts use no more than this.</source>
        <translation>モデルとコンテキストが使用するメモリの上限です。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>In memory</source>
        <translation>メモリ上</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How much of earlier prompts stays in memory, so that none is computed twice.</source>
        <translation>以前のプロンプトを再計算せずに済むよう、メモリに残しておく量です。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>On disk</source>
        <translation>ディスク上</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>What no longer fits into memory moves there and survives restarts; 0 turns it off.</source>
        <translation>メモリに収まらない分をディスクに移し、再起動後も残します。0でオフになります。</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Delete the cache on disk</source>
        <translation>ディスク上のキャッシュを削除</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>On disk now</source>
        <translation>現在のディスク使用量</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="+30"/>
        <source>min</source>
        <translation>分</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Unload after this many minutes idle (0 = never).</source>
        <translation>アイドル状態がこの時間続くとアンロードします（0 = しない）。</translation>
    </message>
    <message>
        <location line="+4"/>
        <location line="+7"/>
        <source>Predict ahead</source>
        <translation>先読み</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Models that have a prediction head write faster with it, and take a little more memory.</source>
        <translation>予測ヘッドを備えたモデルは、それを使うと速く書けますが、メモリを少し多く使います。</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Fewer bits allow longer contexts, with slightly less accuracy.</source>
        <translation>ビット数を減らすと、精度は少し下がりますが、より長いコンテキストを扱えます。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Other changes apply when a model is loaded the next time.</source>
        <translation>その他の変更は、次回モデルをロードしたときに適用されます。</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>All free memory</source>
        <translation>すべての空きメモリ</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Automatic</source>
        <translation>自動</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Models and their contexts use no more than this. The machine has {size} of memory.</source>
        <translation>モデルとコンテキストが使用するメモリの上限です。このコンピューターのメモリは{size}です。</translation>
    </message>
    <message numerus="yes">
        <location line="+9"/>
        <source>{size} in 1 entry, in {folder}|{size} in {count} entries, in {folder}</source>
        <translation>
            <numerusform>{count}項目で{size}（{folder}）</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Nothing</source>
        <translation>なし</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/model_folders.py" line="+130"/>
        <source>{folder} is not a folder that can be read; choose the folder that contains your models.</source>
        <translation>「{folder}」は読み取り可能なフォルダーではありません。モデルが入っているフォルダーを選択してください。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{folder} is already searched.</source>
        <translation>「{folder}」はすでに検索対象です。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="-30"/>
        <location line="+32"/>
        <source>New chat after</source>
        <translation>新規チャットまでの時間</translation>
    </message>
    <message>
        <location line="-3"/>
        <source>Shortcut</source>
        <translation>ショートカット</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Start fresh if unused for this many minutes.</source>
        <translation>この時間使用しないと、次は新規チャットで始めます。</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+3"/>
        <source>Launch at login</source>
        <translation>ログイン時に起動</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Without a window, so that the quick prompt opens at once.</source>
        <translation>ウィンドウを表示せずに起動し、クイックプロンプトをすぐに開けるようにします。</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+3"/>
        <source>Keep in Dock</source>
        <translation>Dockに残す</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Otherwise, Sotto is only in the menu bar while its window is closed.</source>
        <translation>オフの場合、ウインドウを閉じている間、Sottoはメニューバーにのみ表示されます。</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>The command sotto --toggle does the same; you can bind it to a shortcut in your desktop’s settings.</source>
        <translation>コマンド「sotto --toggle」でも同じことができます。デスクトップ環境の設定でショートカットに割り当てられます。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Startup</source>
        <translation>起動</translation>
    </message>
    <message>
        <location line="+37"/>
        <source>{keys} shows and hides it anywhere.</source>
        <translation>{keys}で、どこからでも表示/非表示を切り替えられます。</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Click to record</source>
        <translation>クリックしてキーを入力</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/user_data.py" line="-22"/>
        <source>The engine’s settings could not be reset: {reason}.</source>
        <translation>エンジンの設定をリセットできませんでした（{reason}）。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/state/memory_estimate.py" line="+84"/>
        <source>Fits</source>
        <translation>余裕あり</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Tight</source>
        <translation>余裕わずか</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Does not fit</source>
        <translation>メモリ不足</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Unknown</source>
        <translation>不明</translation>
    </message>
    <message>
        <location line="+79"/>
        <source>It has not been checked yet.</source>
        <translation>まだ確認されていません。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Its size is unknown.</source>
        <translation>サイズが不明です。</translation>
    </message>
    <message>
        <location line="+25"/>
        <source>The amount of memory is unknown.</source>
        <translation>メモリ容量が不明です。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/state/model_state.py" line="-41"/>
        <source>This model makes embeddings and cannot chat: use it with sotto embed, or through the API.</source>
        <translation>このモデルは埋め込み用のため、チャットできません。sotto embedまたはAPIで使用してください。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/state/wording.py" line="+41"/>
        <location line="+11"/>
        <location line="+10"/>
        <source>{seconds} s</source>
        <translation>{seconds}秒</translation>
    </message>
    <message>
        <location line="-18"/>
        <source>{minutes} min</source>
        <translation>{minutes}分</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{hours} h {minutes} min</source>
        <translation>{hours}時間{minutes}分</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{hours} h</source>
        <translation>{hours}時間</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>{minutes} min {seconds} s</source>
        <translation>{minutes}分{seconds}秒</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{milliseconds} ms</source>
        <translation>{milliseconds}ミリ秒</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>just now</source>
        <translation>たった今</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{minutes} min ago</source>
        <translation>{minutes}分前</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>1 hour ago|{count} hours ago</source>
        <translation>
            <numerusform>{count}時間前</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>yesterday</source>
        <translation>昨日</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>{count} days ago</source>
        <translation>
            <numerusform>{count}日前</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/timing/debounced_file.py" line="+65"/>
        <source>{file} cannot be written: {reason}.</source>
        <translation>「{file}」に書き込めません（{reason}）。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/confirm_button.py" line="+46"/>
        <source>{action}: click again to confirm</source>
        <translation>{action}：もう一度クリックすると実行します</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/growing_text_edit.py" line="+49"/>
        <source>Message</source>
        <translation>メッセージ</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/notice.py" line="+57"/>
        <location line="+51"/>
        <source>Do it</source>
        <translation>実行</translation>
    </message>
    <message>
        <location line="-49"/>
        <source>Dismiss</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/number.py" line="+55"/>
        <source>set here</source>
        <translation>ここで設定</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>from Settings</source>
        <translation>設定の値</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>from the model</source>
        <translation>モデルの値</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>default</source>
        <translation>デフォルト</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/number_field.py" line="+55"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+8"/>
        <source>Clear</source>
        <translation>消去</translation>
    </message>
    <message>
        <location line="+64"/>
        <source>{title} must be a number from {least} to {most}, not {typed}.</source>
        <translation>「{title}」には{least}から{most}までの数値を入力してください（入力値：{typed}）。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{title} must be a whole number from {least} to {most}, not {typed}.</source>
        <translation>「{title}」には{least}から{most}までの整数を入力してください（入力値：{typed}）。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/paged_window.py" line="+44"/>
        <source>{title} pages</source>
        <translation>{title}のページ</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/pane.py" line="+25"/>
        <source>Show sidebar</source>
        <translation>サイドバーを表示</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/section_title.py" line="+34"/>
        <source>{title}, expanded</source>
        <translation>{title}、展開済み</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Collapse</source>
        <translation>折りたたむ</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{title}, collapsed</source>
        <translation>{title}、折りたたみ済み</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Expand</source>
        <translation>展開</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/answer_message.py" line="-151"/>
        <source>Copy answer</source>
        <translation>回答をコピー</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answer by {model}</source>
        <translation>{model}の回答</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Answer</source>
        <translation>回答</translation>
    </message>
    <message>
        <location line="+9"/>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="+2"/>
        <source>Regenerate</source>
        <translation>再生成</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Regenerate and keep this answer</source>
        <translation>この回答を残して再生成</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Try another model</source>
        <translation>別のモデルで試す</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Continue answer</source>
        <translation>回答を続ける</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="+4"/>
        <source>Continue</source>
        <translation>続ける</translation>
    </message>
    <message>
        <location line="+88"/>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="+2"/>
        <source>Answering…</source>
        <translation>回答中…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/attachment_chips.py" line="-251"/>
        <source>Whole Document</source>
        <translation>文書全体</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Only the Beginning</source>
        <translation>先頭のみ</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Only the End</source>
        <translation>末尾のみ</translation>
    </message>
    <message>
        <location line="+63"/>
        <source>Choose what is sent of {name}</source>
        <translation>「{name}」の送信する部分を選択</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Choose what is sent</source>
        <translation>送信する部分を選択</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Remove {name}</source>
        <translation>「{name}」を取り除く</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Remove</source>
        <translation>取り除く</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Attached: {name}, {details}</source>
        <translation>添付：{name}、{details}</translation>
    </message>
    <message>
        <location line="+118"/>
        <source>Reading…</source>
        <translation>読み取り中…</translation>
    </message>
    <message>
        <location line="+62"/>
        <source>first {percent} %</source>
        <translation>先頭の{percent}%</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>last {percent} %</source>
        <translation>末尾の{percent}%</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{percent} % of it</source>
        <translation>全体の{percent}%</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/collapsible_parts.py" line="+116"/>
        <source>Show thoughts</source>
        <translation>思考を表示</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Hide thoughts</source>
        <translation>思考を隠す</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Thoughts</source>
        <translation>思考</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Thinking…</source>
        <translation>思考中…</translation>
    </message>
    <message>
        <location line="+56"/>
        <source>Show arguments</source>
        <translation>引数を表示</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Hide arguments</source>
        <translation>引数を隠す</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Arguments</source>
        <translation>引数</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Choosing a tool…</source>
        <translation>ツールを選択中…</translation>
    </message>
    <message>
        <location line="+32"/>
        <source>Newest thoughts</source>
        <translation>最新の思考</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/find_bar.py" line="+52"/>
        <source>Find in this chat</source>
        <translation>このチャット内を検索</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Previous match</source>
        <translation>前の一致</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Previous match (Enter)</source>
        <translation>前の一致（Enter）</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Next match</source>
        <translation>次の一致</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Next match (Shift+Enter)</source>
        <translation>次の一致（Shift+Enter）</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Close find bar</source>
        <translation>検索バーを閉じる</translation>
    </message>
    <message>
        <location line="+53"/>
        <source>Nothing found</source>
        <translation>見つかりません</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{number} of {count}</source>
        <translation>{number} / {count}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/jump_to_latest.py" line="+20"/>
        <location line="+13"/>
        <source>Jump to latest</source>
        <translation>最新へ移動</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Jump to latest, answer in progress</source>
        <translation>最新へ移動、回答中</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/message_editor.py" line="-7"/>
        <location filename="../../desktop/sotto/ui/transcript/user_message.py" line="-54"/>
        <source>Edit message</source>
        <translation>メッセージを編集</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Edit answer</source>
        <translation>回答を編集</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Send</source>
        <translation>送信</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Previous version is kept</source>
        <translation>前のバージョンは保持されます</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>Wait for the end of the answer</source>
        <translation>回答が終わるまでお待ちください</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="-21"/>
        <source>Delete Answer</source>
        <translation>回答を削除</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Delete Question</source>
        <translation>質問を削除</translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>Delete Question and Answer|Delete Question and Answers</source>
        <translation>
            <numerusform>質問と回答を削除</numerusform>
        </translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Copy Selection</source>
        <translation>選択範囲をコピー</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="+131"/>
        <source>Copy Link</source>
        <translation>リンクをコピー</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Try Another Model…</source>
        <translation>別のモデルで試す…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Get an Answer</source>
        <translation>回答を取得</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Edit…</source>
        <translation>編集…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Branch From Here</source>
        <translation>ここから分岐</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Show Markdown</source>
        <translation>Markdownを表示</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/message_widget.py" line="+2"/>
        <source>More actions</source>
        <translation>その他の操作</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/notices.py" line="+86"/>
        <source>In another chat.</source>
        <translation>別のチャットでの問題です。</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/window/chat_files.py" line="+11"/>
        <source>Open chat</source>
        <translation>チャットを開く</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/transcript.py" line="+62"/>
        <source>Conversation</source>
        <translation>会話</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/user_message.py" line="-18"/>
        <source>Copy message</source>
        <translation>メッセージをコピー</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Your message</source>
        <translation>あなたのメッセージ</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Show more</source>
        <translation>さらに表示</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Show more of this message</source>
        <translation>このメッセージをさらに表示</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Get an answer</source>
        <translation>回答を取得</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/version_switch.py" line="+24"/>
        <source>Previous version</source>
        <translation>前のバージョン</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Next version</source>
        <translation>次のバージョン</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Version {number} of {count}</source>
        <translation>バージョン {number} / {count}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="-136"/>
        <source>Not printed</source>
        <translation>印刷されませんでした</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/pictures/chat_images.py" line="+117"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="+99"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_importing.py" line="+156"/>
        <source>{file} could not be written: {reason}.</source>
        <translation>「{file}」に書き込めませんでした（{reason}）。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="-133"/>
        <location line="+93"/>
        <source>Nothing was exported</source>
        <translation>エクスポートされませんでした</translation>
    </message>
    <message>
        <location line="-98"/>
        <source>Chats as {form}</source>
        <translation>チャット（{form}）</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>There are no chats yet.</source>
        <translation>チャットはまだありません。</translation>
    </message>
    <message>
        <location line="+144"/>
        <source>The chat is no longer there, so it was not exported.</source>
        <translation>チャットがすでに存在しないため、エクスポートされませんでした。</translation>
    </message>
    <message>
        <location line="+13"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="-5"/>
        <source>You</source>
        <translation>あなた</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/chat_importing.py" line="-40"/>
        <location line="+30"/>
        <source>Nothing was imported</source>
        <translation>インポートされませんでした</translation>
    </message>
    <message>
        <location line="+60"/>
        <source>The chats could not be added.</source>
        <translation>チャットを追加できませんでした。</translation>
    </message>
    <message numerus="yes">
        <location line="-11"/>
        <source>{added} of 1 chat added|{added} of {count} chats added</source>
        <translation>
            <numerusform>{count}件中{added}件のチャットを追加</numerusform>
        </translation>
    </message>
    <message>
        <location line="-51"/>
        <source>Not everything was imported</source>
        <translation>一部はインポートされませんでした</translation>
    </message>
    <message numerus="yes">
        <location line="+54"/>
        <source>1 chat read|{count} chats read</source>
        <translation>
            <numerusform>{count}件のチャットを読み取り</numerusform>
        </translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Opening the files</source>
        <translation>ファイルを開いています</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="+33"/>
        <source>1 character|{count} characters</source>
        <translation>
            <numerusform>{count}文字</numerusform>
        </translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Attached: {file}</source>
        <translation>添付：{file}</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/transfer/import_summary.py" line="-18"/>
        <source>Imported 1 chat.|Imported {count} chats.</source>
        <translation>
            <numerusform>{count}件のチャットをインポートしました。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+13"/>
        <source>1 chat got new messages.|{count} chats got new messages.</source>
        <translation>
            <numerusform>{count}件のチャットに新しいメッセージを追加しました。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="-9"/>
        <source>1 chat was already here.|{count} chats were already here.</source>
        <translation>
            <numerusform>{count}件のチャットはすでにありました。</numerusform>
        </translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{things} could not be read.</source>
        <translation>{things}を読み取れませんでした。</translation>
    </message>
    <message numerus="yes">
        <location line="+12"/>
        <source>1 message|{count} messages</source>
        <translation>
            <numerusform>{count}件のメッセージ</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 image|{count} images</source>
        <translation>
            <numerusform>{count}枚の画像</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 recording|{count} recordings</source>
        <translation>
            <numerusform>{count}件の録音</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 file|{count} files</source>
        <translation>
            <numerusform>{count}個のファイル</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 tool call|{count} tool calls</source>
        <translation>
            <numerusform>{count}件のツール呼び出し</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 unknown part|{count} unknown parts</source>
        <translation>
            <numerusform>{count}個の不明な部分</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/paper.py" line="+120"/>
        <source>The printer could not be used: choose another one, or print to a file.</source>
        <translation>プリンターを使用できませんでした。別のプリンターを選択するか、ファイルに出力してください。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/about.py" line="+27"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+12"/>
        <source>About Sotto</source>
        <translation>Sottoについて</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+20"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-3"/>
        <source>Licences</source>
        <translation>ライセンス</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>OK</source>
        <translation>OK</translation>
    </message>
    <message>
        <location line="+16"/>
        <source>Version {version}</source>
        <translation>バージョン {version}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Runs language models on your computer</source>
        <translation>言語モデルを手元のコンピューターで実行</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>MIT licence</source>
        <translation>MITライセンス</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_files.py" line="-192"/>
        <source>Importing chats</source>
        <translation>チャットをインポート中</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Import complete</source>
        <translation>インポートが完了しました</translation>
    </message>
    <message>
        <location line="+59"/>
        <source>Exported chats</source>
        <translation>エクスポートされたチャット</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="+0"/>
        <source>All files</source>
        <translation>すべてのファイル</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Import chats</source>
        <translation>チャットをインポート</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Import a folder of chats</source>
        <translation>チャットのフォルダーをインポート</translation>
    </message>
    <message>
        <location line="+20"/>
        <source>Nothing to export</source>
        <translation>エクスポートする内容がありません</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+33"/>
        <source>This chat has no messages yet.</source>
        <translation>このチャットにはまだメッセージがありません。</translation>
    </message>
    <message>
        <location line="-25"/>
        <source>Export as {form}</source>
        <translation>{form}としてエクスポート</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Export all chats</source>
        <translation>すべてのチャットをエクスポート</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Choose where to put the folder of chats</source>
        <translation>チャットのフォルダーの保存先</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Nothing to print</source>
        <translation>印刷する内容がありません</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>Exporting</source>
        <translation>エクスポート中</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Long chats take a moment.</source>
        <translation>長いチャットには少し時間がかかります。</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>{written} of {count} chats written</source>
        <translation>{count}件中{written}件のチャットを書き込みました</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Exported</source>
        <translation>エクスポートしました</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>Written to {path}.</source>
        <translation>「{path}」に保存しました。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Show folder</source>
        <translation>フォルダーを表示</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Export cancelled</source>
        <translation>エクスポートをキャンセルしました</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Nothing was written.</source>
        <translation>何も書き込まれませんでした。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Printed</source>
        <translation>印刷しました</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Import cancelled</source>
        <translation>インポートをキャンセルしました</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Nothing was imported.</source>
        <translation>何もインポートされませんでした。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_header.py" line="-25"/>
        <source>Switch model</source>
        <translation>モデルを切り替え</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>New chat</source>
        <translation>新規チャット</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Start a new chat</source>
        <translation>新規チャットを開始</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>Switch to {model}</source>
        <translation>{model}に切り替え</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{model} answered last in this chat</source>
        <translation>このチャットで最後に回答したのは{model}です</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Choose another model</source>
        <translation>別のモデルを選択</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Model: {name}</source>
        <translation>モデル：{name}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-284"/>
        <source>Archive</source>
        <translation>アーカイブ</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Trash</source>
        <translation>ゴミ箱</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Your chats appear here.</source>
        <translation>チャットはここに表示されます。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>No archived chats.</source>
        <translation>アーカイブしたチャットはありません。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The trash is empty. Chats in it are deleted after 30 days.</source>
        <translation>ゴミ箱は空です。ゴミ箱のチャットは30日後に削除されます。</translation>
    </message>
    <message>
        <location line="+167"/>
        <source>Choose which chats are listed, or make a folder</source>
        <translation>表示するチャットを選択、またはフォルダーを作成</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Chats, archive, trash, folders</source>
        <translation>チャット、アーカイブ、ゴミ箱、フォルダー</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Empty…</source>
        <translation>空にする…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Empty the trash</source>
        <translation>ゴミ箱を空にする</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Back to chats</source>
        <translation>チャットに戻る</translation>
    </message>
    <message>
        <location line="+81"/>
        <source>Restore</source>
        <translation>復元</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Delete for Good…</source>
        <translation>完全に削除…</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Unpin</source>
        <translation>ピン留めを外す</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Pin</source>
        <translation>ピン留め</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Unarchive</source>
        <translation>アーカイブから戻す</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Archive</source>
        <comment>move to the archive</comment>
        <translation>アーカイブ</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Export</source>
        <translation>エクスポート</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-54"/>
        <source>Print…</source>
        <translation>印刷…</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Move to Trash</source>
        <translation>ゴミ箱に移動</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="-44"/>
        <source>Open</source>
        <translation>開く</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Delete Folder but Keep Chats</source>
        <translation>チャットを残してフォルダーを削除</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Move to Folder</source>
        <translation>フォルダーに移動</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No Folder</source>
        <translation>フォルダーなし</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>New Folder…</source>
        <translation>新規フォルダー…</translation>
    </message>
    <message>
        <location line="+51"/>
        <source>New Folder</source>
        <translation>新規フォルダー</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="+27"/>
        <source>Folder {name}, {chats}, closed</source>
        <translation>フォルダー「{name}」、{chats}、閉じています</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Folder {name}, {chats}, open</source>
        <translation>フォルダー「{name}」、{chats}、開いています</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>pinned</source>
        <translation>ピン留め済み</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>in a folder</source>
        <translation>フォルダー内</translation>
    </message>
    <message>
        <location line="+49"/>
        <source>Pinned</source>
        <translation>ピン留め</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Today</source>
        <translation>今日</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Yesterday</source>
        <translation>昨日</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Previous 7 days</source>
        <translation>過去7日間</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{month} {year}</source>
        <translation>{year}年{month}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+50"/>
        <source>Shortcuts</source>
        <translation>ショートカット</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Help</source>
        <translation>ヘルプ</translation>
    </message>
    <message>
        <location line="+55"/>
        <source>Send the message</source>
        <translation>メッセージを送信</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+3"/>
        <source>Enter</source>
        <translation>Enter</translation>
    </message>
    <message>
        <location line="-2"/>
        <source>New line in a message</source>
        <translation>メッセージ内で改行</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Shift+Enter</source>
        <translation>Shift+Enter</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Enter, Shift+Enter</source>
        <translation>Enter、Shift+Enter</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Previous and next match while searching in a chat</source>
        <translation>チャット内検索で前の一致／次の一致へ</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Load the selected model</source>
        <translation>選択したモデルをロード</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Rename the selected chat</source>
        <translation>選択したチャットの名前を変更</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Action</source>
        <translation>操作</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Keys</source>
        <translation>キー</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{part} (in {library})</source>
        <translation>{part}（{library} 内）</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>see its package</source>
        <translation>パッケージを参照</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Qt and PySide6 are used under the LGPL, version 3. They are libraries of their own, whose files can be replaced by changed ones. Their source is at {address}.</source>
        <translation>QtとPySide6は、LGPLバージョン3のもとで使用しています。独立したライブラリであり、そのファイルは変更を加えたものに置き換えられます。ソースコードは{address}にあります。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Sotto is under the MIT licence. It uses:</source>
        <translation>SottoはMITライセンスで提供されています。次のパッケージを使用しています：</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Package</source>
        <translation>パッケージ</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-5"/>
        <location line="+8"/>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+0"/>
        <source>Licence</source>
        <translation>ライセンス</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+8"/>
        <source>All licences</source>
        <translation>すべてのライセンス</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="-1"/>
        <source>Open this link in your browser?</source>
        <translation>このリンクをブラウザーで開きますか？</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Writing a summary</source>
        <translation>要約を作成中</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>A new chat will start with it.</source>
        <translation>この要約で新規チャットを始めます。</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Moved to the trash</source>
        <translation>ゴミ箱に移動しました</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Delete “{title}” for good?</source>
        <translation>「{title}」を完全に削除しますか？</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>This cannot be undone.</source>
        <translation>この操作は元に戻せません。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Its chats are deleted for good.</source>
        <translation>ゴミ箱のチャットは完全に削除されます。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Empty</source>
        <comment>empty the trash</comment>
        <translation>空にする</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Empty the trash?</source>
        <translation>ゴミ箱を空にしますか？</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Folder deleted</source>
        <translation>フォルダーを削除しました</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The chats in “{folder}” are still in the list.</source>
        <translation>「{folder}」にあったチャットはリストに残っています。</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>About your chats</source>
        <translation>チャットについて</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Not saved</source>
        <translation>保存されませんでした</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-73"/>
        <source>&amp;File</source>
        <translation>ファイル(&amp;F)</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>New Chat Folder</source>
        <translation>新規チャットフォルダー</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Open Model…</source>
        <translation>モデルを開く…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Open Model Folder…</source>
        <translation>モデルフォルダーを開く…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Add Model Folder…</source>
        <translation>モデルフォルダーを追加…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Get a Model…</source>
        <translation>モデルを入手…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Get a Model by Name…</source>
        <translation>名前でモデルを入手…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Manage Models…</source>
        <translation>モデルを管理…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Rescan Models</source>
        <translation>モデルを再スキャン</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Attach Files…</source>
        <translation>ファイルを添付…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Import Chats…</source>
        <translation>チャットをインポート…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Import Chat Folder…</source>
        <translation>チャットフォルダーをインポート…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Export Chat</source>
        <translation>チャットをエクスポート</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Export All Chats</source>
        <translation>すべてのチャットをエクスポート</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Export All as {form}…</source>
        <translation>すべてを{form}としてエクスポート…</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+3"/>
        <source>Settings…</source>
        <translation>設定…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Close Window</source>
        <translation>ウィンドウを閉じる</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>&amp;Edit</source>
        <translation>編集(&amp;E)</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Redo</source>
        <translation>やり直す</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Cut</source>
        <translation>切り取り</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Paste</source>
        <translation>貼り付け</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Select All</source>
        <translation>すべて選択</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Find in Chat</source>
        <translation>チャット内を検索</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Search Chats and Models</source>
        <translation>チャットとモデルを検索</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Go to Models</source>
        <translation>モデルへ移動</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>&amp;View</source>
        <translation>表示(&amp;V)</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Larger Text</source>
        <translation>文字を大きく</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Smaller Text</source>
        <translation>文字を小さく</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Normal Text</source>
        <translation>標準の文字サイズ</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Sidebar</source>
        <translation>サイドバー</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Command Palette</source>
        <translation>コマンドパレット</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Chat Settings</source>
        <translation>チャットの設定</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Local Server</source>
        <translation>ローカルサーバー</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>&amp;Help</source>
        <translation>ヘルプ(&amp;H)</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sotto Help</source>
        <translation>Sottoヘルプ</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Copy Report</source>
        <translation>レポートをコピー</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Show Logs</source>
        <translation>ログを表示</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Check for Updates…</source>
        <translation>アップデートを確認…</translation>
    </message>
    <message>
        <location line="+32"/>
        <source>Export as {form}…</source>
        <translation>{form}としてエクスポート…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/message_commands.py" line="+110"/>
        <source>Question deleted</source>
        <translation>質問を削除しました</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>Question and answer deleted|Question and {count} answers deleted</source>
        <translation>
            <numerusform>質問と{count}件の回答を削除しました</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>Answer deleted|{count} answers deleted</source>
        <translation>
            <numerusform>{count}件の回答を削除しました</numerusform>
        </translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The messages that follow are kept.</source>
        <translation>以降のメッセージは残ります。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/request_list.py" line="-1"/>
        <source>Working</source>
        <translation>処理中</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Reading</source>
        <translation>読み取り中</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Writing</source>
        <translation>生成中</translation>
    </message>
    <message>
        <location line="+92"/>
        <source>Cancelled</source>
        <translation>キャンセル済み</translation>
    </message>
    <message numerus="yes">
        <location line="+20"/>
        <source>{read} → 1 token|{read} → {written} tokens</source>
        <translation>
            <numerusform>{read} → {written}トークン</numerusform>
        </translation>
    </message>
    <message>
        <location line="+67"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+30"/>
        <source>Requests</source>
        <translation>リクエスト</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-38"/>
        <location line="+117"/>
        <source>Show the key</source>
        <translation>APIキーを表示</translation>
    </message>
    <message>
        <location line="-112"/>
        <source>Clear the requests</source>
        <translation>リクエストを消去</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No requests yet</source>
        <translation>リクエストはまだありません</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Settings of the local server</source>
        <translation>ローカルサーバーの設定</translation>
    </message>
    <message>
        <location line="+85"/>
        <source>Other programs can use your models while it is on.</source>
        <translation>オンの間は、ほかのアプリがモデルを使用できます。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Starting…</source>
        <translation>起動中…</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>Hidden</source>
        <translation>非表示</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Hide the key</source>
        <translation>APIキーを隠す</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/server_status.py" line="+41"/>
        <source>Server off</source>
        <translation>サーバー：オフ</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Server could not start</source>
        <translation>サーバーを起動できません</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Server on :{port}</source>
        <translation>サーバー：オン（:{port}）</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Server starting…</source>
        <translation>サーバーを起動中…</translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 request|{count} requests</source>
        <translation>
            <numerusform>リクエスト{count}件</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/sidebar.py" line="+55"/>
        <source>Search chats and models</source>
        <translation>チャットとモデルを検索</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Hide sidebar</source>
        <translation>サイドバーを隠す</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/welcome.py" line="+22"/>
        <source>Explain how a rainbow forms, in three sentences.</source>
        <translation>虹ができる仕組みを3文で説明してください。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Suggest a name for a small sailing boat.</source>
        <translation>小さなヨットの名前を考えてください。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>What makes bread rise?</source>
        <translation>パンはなぜふくらむのですか？</translation>
    </message>
    <message>
        <location line="+83"/>
        <source>Welcome to Sotto</source>
        <translation>Sottoへようこそ</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Choose a model in the list to chat with it. Nothing you write leaves your computer.</source>
        <translation>リストからモデルを選択すると、チャットできます。入力した内容がコンピューターの外に送信されることはありません。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Ask about Sotto</source>
        <translation>Sottoについて質問</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Ask {model}</source>
        <translation>{model}に質問</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The model is loading. You can start writing.</source>
        <translation>モデルをロードしています。入力を始められます。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>I’m the small model that comes with Sotto.</source>
        <translation>Sottoに付属する小さなモデルです。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>It runs on your computer.</source>
        <translation>このコンピューター上で動作します。</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Ask: {question}</source>
        <translation>質問：{question}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/shortcut_messages.py" line="+6"/>
        <source>Apps cannot register shortcuts on this desktop: bind `sotto --toggle` to {keys} in the settings of your desktop.</source>
        <translation>このデスクトップ環境では、アプリはショートカットを登録できません。デスクトップ環境の設定で `sotto --toggle` に {keys} を割り当ててください。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="+1"/>
        <source>Open model</source>
        <translation>モデルを開く</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Open model folder</source>
        <translation>モデルフォルダーを開く</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/file_names.py" line="+22"/>
        <source>chat</source>
        <translation>チャット</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/uncaught.py" line="-1"/>
        <source>That was when you last used it. Your chats are saved.</source>
        <translation>前回の使用時のことです。チャットは保存されています。</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>This error keeps it from running. Your chats are saved.</source>
        <translation>このエラーのため実行できません。チャットは保存されています。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sotto cannot start</source>
        <translation>Sotto を起動できません</translation>
    </message>
    <message>
        <location line="+39"/>
        <source>An error occurred in Sotto. Your chats are saved, and you can go on.</source>
        <translation>Sotto でエラーが発生しました。チャットは保存されており、そのまま続けられます。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Something went wrong</source>
        <translation>問題が発生しました</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/bug_report.py" line="+41"/>
        <source>Writing a report</source>
        <translation>レポートを作成中</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>It has no messages, keys or names of chats.</source>
        <translation>メッセージ、キー、チャットの名前は含まれません。</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Report copied</source>
        <translation>レポートをコピーしました</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Paste it into your bug report.</source>
        <translation>不具合の報告に貼り付けてください。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/login_portal.py" line="+24"/>
        <source>The desktop did not change whether Sotto starts at login.</source>
        <translation>ログイン時にSottoを起動するかどうかは、デスクトップによって変更されませんでした。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The quick prompt is there at once.</source>
        <translation>クイックプロンプトをすぐに使えます。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/address_opener.py" line="+50"/>
        <source>Address not opened</source>
        <translation>アドレスを開けませんでした</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Add this text to your draft?</source>
        <translation>このテキストを下書きに追加しますか？</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Add</source>
        <comment>to the draft</comment>
        <translation>追加</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>There is no chat with the number {number}.</source>
        <translation>番号 {number} のチャットはありません。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/own_addresses.py" line="+71"/>
        <source>The address is longer than {count} characters, so it is not opened.</source>
        <translation>アドレスが {count} 文字を超えているため、開きません。</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Sotto opens sotto://model/NAME, sotto://chat/NUMBER and sotto://ask?text=TEXT, not {address}.</source>
        <translation>Sotto が開けるのは sotto://model/名前、sotto://chat/番号、sotto://ask?text=テキスト です。{address} は開けません。</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>The address is not opened, because it is not encoded as UTF-8 text.</source>
        <translation>アドレスが UTF-8 のテキストとして符号化されていないため、開きません。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The address is not opened, because it holds characters that cannot be seen.</source>
        <translation>アドレスに目に見えない文字が含まれているため、開きません。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/update_notices.py" line="-9"/>
        <source>Sotto {version} is available</source>
        <translation>Sotto {version} を利用できます</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>What is new</source>
        <translation>新機能</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Look for new versions once a day?</source>
        <translation>1日に1回、新しいバージョンを探しますか？</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sotto then reads a list from one address; nothing about you is sent, and nothing is installed.</source>
        <translation>Sotto は1つのアドレスから一覧を読み込みます。お客様に関する情報は送信されず、何もインストールされません。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/updates_page.py" line="+26"/>
        <source>Updates</source>
        <translation>アップデート</translation>
    </message>
    <message>
        <location line="+7"/>
        <location line="+11"/>
        <source>Look for new versions</source>
        <translation>新しいバージョンを探す</translation>
    </message>
    <message>
        <location line="-9"/>
        <source>Check now</source>
        <translation>今すぐ確認</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Once a day, Sotto reads a signed list from {address}, which learns your network address and nothing else; it downloads and installs nothing.</source>
        <translation>1日に1回、Sotto は署名付きの一覧を {address} から読み込みます。相手に伝わるのはネットワークアドレスだけで、ダウンロードやインストールは行われません。</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>Open download page</source>
        <translation>ダウンロードページを開く</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>How to get it</source>
        <translation>入手方法</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>This build cannot look for new versions, because it has no key to check them with.</source>
        <translation>このビルドには検証用の鍵がないため、新しいバージョンを探せません。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Looking…</source>
        <translation>確認中…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Version {version} is available.</source>
        <translation>バージョン {version} を利用できます。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>This is the newest version.</source>
        <translation>これは最新バージョンです。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Not looked for yet.</source>
        <translation>まだ確認していません。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Last looked for {ago}.</source>
        <translation>前回の確認: {ago}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/updating/release_advice.py" line="+9"/>
        <source>Sotto belongs to your system’s packages: install the new one with the software centre, or with “sudo apt install ./sotto_{version}_….deb”.</source>
        <translation>Sotto はシステムのパッケージです。新しいものはソフトウェアセンター、または「sudo apt install ./sotto_{version}_….deb」でインストールしてください。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Update Sotto in the software centre, or with “flatpak update {program}”.</source>
        <translation>ソフトウェアセンター、または「flatpak update {program}」で Sotto を更新してください。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>This Sotto is a checkout of its sources: “git pull” brings the new version.</source>
        <translation>この Sotto はソースのチェックアウトです。「git pull」で新しいバージョンになります。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>This Sotto is a Python package: install the new wheel in the same environment.</source>
        <translation>この Sotto は Python パッケージです。同じ環境に新しい wheel をインストールしてください。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Download the new AppImage, and put it in the place of this one.</source>
        <translation>新しい AppImage をダウンロードし、現在のものと置き換えてください。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Download the new version, quit Sotto, and put its folder in the place of this one.</source>
        <translation>新しいバージョンをダウンロードし、Sotto を終了してから、フォルダを置き換えてください。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Download the new version, quit Sotto, and drag it over this one.</source>
        <translation>新しいバージョンをダウンロードし、Sotto を終了してから、現在のものの上にドラッグしてください。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/customizing.py" line="+74"/>
        <source>{name} cannot be customized</source>
        <translation>{name}はカスタマイズできません</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Customize {name}</source>
        <translation>{name}をカスタマイズ</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>There is one of this name; it will be replaced.</source>
        <translation>同じ名前のモデルがあり、置き換えられます。</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>Hello! Who are you?</source>
        <translation>こんにちは。あなたは誰ですか？</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>I am here to help.</source>
        <translation>お手伝いします。</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>What is the capital of France?</source>
        <translation>フランスの首都はどこですか？</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Creating…</source>
        <translation>作成中…</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>{name} was created</source>
        <translation>{name}を作成しました</translation>
    </message>
    <message>
        <location line="+21"/>
        <source>Its weights were copied from {name}.</source>
        <translation>重みは{name}からコピーされました。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>It shares its weights with {name}.</source>
        <translation>{name}と重みを共有します。</translation>
    </message>
    <message>
        <location line="-8"/>
        <source>Copying… {share}</source>
        <translation>コピー中… {share}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/keeping/model_keeper.py" line="-110"/>
        <source>Rename {name}</source>
        <translation>{name} の名前を変更</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="-4"/>
        <source>Rename</source>
        <translation>名前を変更</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Duplicate {name}</source>
        <translation>{name} を複製</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Both share their files, so that the copy takes up no space.</source>
        <translation>両者はファイルを共有するので、コピーは場所を取りません。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Duplicate</source>
        <translation>複製</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Keep a copy of {name}</source>
        <translation>{name} のコピーを保管</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The copy stays when {program} deletes the model. Where the disk can share files, it takes up no space: either as a clone, or as a link, which is one file with two names.</source>
        <translation>{program} がモデルを削除してもコピーは残ります。ディスクがファイルを共有できる場合は場所を取りません。クローン、またはリンク（1 つのファイルに 2 つの名前）になります。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Keep</source>
        <comment>keep a copy of a model</comment>
        <translation>保管</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>{name} was duplicated</source>
        <translation>{name} を複製しました</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>{name} is kept</source>
        <translation>{name} を保管しました</translation>
    </message>
    <message>
        <location line="+45"/>
        <source>{name} was renamed</source>
        <translation>{name} の名前を変更しました</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>{size} shared with {program}</source>
        <translation>{size} を {program} と共有</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{size} copied</source>
        <translation>{size} をコピー</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/finding_controller.py" line="+144"/>
        <source>Looking at its files…</source>
        <translation>ファイルを確認中…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Its owner must allow the download first.</source>
        <translation>ダウンロードには先に所有者の許可が必要です。</translation>
    </message>
    <message>
        <location line="+65"/>
        <source>What you type here is sent to {host}.</source>
        <translation>ここに入力した内容は {host} に送信されます。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Searching…</source>
        <translation>検索中…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Nothing was found there.</source>
        <translation>何も見つかりませんでした。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_list.py" line="-134"/>
        <source>Models to download</source>
        <translation>ダウンロードできるモデル</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_controller.py" line="-35"/>
        <source>Folder…</source>
        <translation>フォルダー…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>GGUF file…</source>
        <translation>GGUFファイル…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>GGUF files</source>
        <translation>GGUFファイル</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="-48"/>
        <location line="+45"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-216"/>
        <source>Import a model</source>
        <translation>モデルをインポート</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>{name} is being imported already; choose another name.</source>
        <translation>{name}はすでにインポート中です。別の名前を選んでください。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="-62"/>
        <source>Preparing the import</source>
        <translation>インポートを準備中</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Importing</source>
        <translation>インポート中</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Measuring the quality</source>
        <translation>品質を測定中</translation>
    </message>
    <message>
        <location line="+58"/>
        <source>{name} could not be imported</source>
        <translation>{name}をインポートできませんでした</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>It takes {size}.</source>
        <translation>{size}を使用します。</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Perplexity {before} → {after}, KL divergence {divergence}, the same token in {share} %.</source>
        <translation>パープレキシティ{before} → {after}、KLダイバージェンス{divergence}、同じトークン{share} %。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="-1"/>
        <source>Cancel the import of {name}</source>
        <translation>{name}のインポートを中止</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Imported</source>
        <translation>インポート済み</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>Resume the import of {name}</source>
        <translation>{name}のインポートを再開</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Pause the import of {name}</source>
        <translation>{name}のインポートを一時停止</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>Imports</source>
        <translation>インポート</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="-40"/>
        <source>Import {name}</source>
        <translation>{name}をインポート</translation>
    </message>
    <message>
        <location line="+10"/>
        <location line="+34"/>
        <source>Quantization</source>
        <translation>量子化</translation>
    </message>
    <message>
        <location line="-31"/>
        <location line="+32"/>
        <source>Measure the quality</source>
        <translation>品質を測定</translation>
    </message>
    <message>
        <location line="-30"/>
        <location line="+75"/>
        <source>Reading the model…</source>
        <translation>モデルを読んでいます…</translation>
    </message>
    <message>
        <location line="-72"/>
        <source>Use where it is</source>
        <translation>この場所で使う</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Import</source>
        <translation>インポート</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>8 bits ({name})</source>
        <translation>8ビット（{name}）</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>4 bits ({name})</source>
        <translation>4ビット（{name}）</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Keep as it is</source>
        <translation>そのまま</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Against the original, when it is imported</source>
        <translation>インポート後に元のモデルと比較</translation>
    </message>
    <message>
        <location line="+72"/>
        <source>It will take {size} on the disk.</source>
        <translation>ディスクで{size}を使用します。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Its weights need {size} of memory, and {free} are free.</source>
        <translation>重みに{size}のメモリが必要で、空きは{free}です。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>It fits.</source>
        <translation>収まります。</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>It does not fit now; fewer bits may help.</source>
        <translation>今は収まりません。ビット数を減らすと収まることがあります。</translation>
    </message>
    <message>
        <location line="+57"/>
        <source>There is a model {name} already; choose another name.</source>
        <translation>{name}というモデルはすでにあります。別の名前を選んでください。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/running_imports.py" line="+90"/>
        <source>Earlier imports could not be read</source>
        <translation>以前のインポートを読めませんでした</translation>
    </message>
    <message>
        <location line="+142"/>
        <source>The process that measures ended unexpectedly.</source>
        <translation>測定するプロセスが予期せず終了しました。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/attachment_control.py" line="+72"/>
        <source>Pasted image</source>
        <translation>貼り付けた画像</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/composer_controller.py" line="+70"/>
        <source>No screenshot</source>
        <translation>スクリーンショットなし</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/screenshots.py" line="+107"/>
        <source>The desktop did not take one: take it with another program, and paste it here.</source>
        <translation>デスクトップが撮影しませんでした。別のプログラムで撮影し、ここに貼り付けてください。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Screenshot</source>
        <translation>スクリーンショット</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/picture_button.py" line="+49"/>
        <location filename="../../desktop/sotto/ui/transcript/picture_viewer.py" line="-92"/>
        <source>Image {name}</source>
        <translation>画像{name}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Shows it whole</source>
        <translation>全体を表示</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/picture_viewer.py" line="-8"/>
        <source>Zoom out</source>
        <translation>縮小</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Zoom in</source>
        <translation>拡大</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Zoom to fit</source>
        <translation>ウィンドウに合わせる</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Copy image</source>
        <translation>画像をコピー</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Save image as…</source>
        <translation>名前を付けて画像を保存…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Opening…</source>
        <translation>開いています…</translation>
    </message>
    <message>
        <location line="+99"/>
        <source>Save image as</source>
        <translation>名前を付けて画像を保存</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>Saved</source>
        <translation>保存しました</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/exported_images.py" line="+26"/>
        <source>{name} images</source>
        <translation>{name} 画像</translation>
    </message>
</context>
</TS>
